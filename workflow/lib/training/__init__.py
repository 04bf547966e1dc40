"""What pre-training and fine-tuning share: schedules, progress, and training that survives a kill."""
