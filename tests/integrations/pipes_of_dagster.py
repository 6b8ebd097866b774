"""An asset that a process of Pipes makes, materialised; what was reported, on stdout."""

import json
import os
import sys
from pathlib import Path

import dagster as dg

PROCESS = Path(__file__).with_name("process_of_pipes.py")


@dg.asset
def item(
    context: dg.AssetExecutionContext, pipes: dg.PipesSubprocessClient
) -> dg.MaterializeResult:
    command = [sys.executable, str(PROCESS), *sys.argv[1:]]
    return pipes.run(
        command=command, context=context, env=dict(os.environ)
    ).get_materialize_result()


done = dg.materialize([item], resources={"pipes": dg.PipesSubprocessClient()}, raise_on_error=False)
made = [m.metadata for m in done.asset_materializations_for_node("item")]
answer = {
    "success": done.success,
    "run_id": done.run_id,
    "made": [{name: value.value for name, value in metadata.items()} for metadata in made],
}
print(json.dumps(answer))
