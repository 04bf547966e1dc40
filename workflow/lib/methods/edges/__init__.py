"""Edge probing (Tenney et al. 2019): classifiers on the token vectors of spans."""
