"""Resources of jobs."""

LONGEST = 1440  # minutes: many partitions take no longer job, and training goes on where it was stopped


def growing(mb: int):
    """Memory in MB, doubled with every retry, because a job's need depends on the size of the dataset."""
    return lambda wildcards, attempt: mb * 2 ** (attempt - 1)


def growing_minutes(minutes: int):
    """The same of the run time, up to a day."""
    return lambda wildcards, attempt: min(minutes * 2 ** (attempt - 1), LONGEST)
