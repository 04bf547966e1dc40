"""The papers' claims as functions over analysis tables: evidence first, verdict from a stated rule."""
