"""Pre-training and fine-tuning: loops, heads, schedules, and training that resumes after interruption."""
