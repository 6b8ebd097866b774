"""dbt, many times in one process: a line of stdin has the arguments, a line of stdout the results.

(dbt takes each module whose name begins with dbt_ for a plugin, and imports it.)
"""

from __future__ import annotations

import json
import os
import sys

from dbt.cli.main import dbtRunner

answers = os.fdopen(os.dup(1), "w")
printed = os.open("dbt.out", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for stream in (1, 2):
    os.dup2(printed, stream)  # what dbt prints is no answer
for line in sys.stdin:
    asked = json.loads(line)
    os.environ.update(asked["env"])
    done = dbtRunner().invoke(asked["arguments"])
    answer = {
        "success": done.success,
        "exception": None if done.exception is None else str(done.exception),
        "results": {
            result.node.unique_id: [str(result.status), result.message]
            for result in getattr(done.result, "results", None) or ()
            if hasattr(result, "node")
        },
    }
    for name in asked["env"]:
        del os.environ[name]
    print(json.dumps(answer), file=answers, flush=True)
