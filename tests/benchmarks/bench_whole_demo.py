"""Where the time of the last `make figures` went; docs/performance.md has the same numbers, and a picture.

python -m tests.benchmarks.bench_whole_demo
"""

import os

from workflow.lib.base.errors import UserError
from workflow.lib.base.performance import RUN, measured

if __name__ == "__main__":
    try:
        print(measured(RUN, os.cpu_count() or 1)[1])
    except UserError as error:
        print(error)
