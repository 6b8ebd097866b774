"""Runs triggers as the triggerer does: many in one loop. It prints their events.

The first argument is the task of dispatch whose trigger is cancelled by a person.
"""

from __future__ import annotations

import asyncio
import json
import sys

from omd.integrations.airflow import OmdSensorTrigger, OmdTaskTrigger

SINCE = "2020-01-01T00:00:00+00:00"


async def first_event(trigger: OmdSensorTrigger | OmdTaskTrigger) -> object:
    """Return what the first event of a trigger holds, made anew from what is stored of it."""
    _, arguments = trigger.serialize()
    async for event in type(trigger)(**json.loads(json.dumps(arguments))).run():
        return event.payload
    return None


async def main() -> None:
    long = OmdTaskTrigger("omd_default", int(sys.argv[1]), "m_long", 4e9)
    waits = asyncio.create_task(first_event(long))
    arguments = {"subject": "MODULE", "since": SINCE}
    of_runs = [
        OmdSensorTrigger("omd_default", "run", {"code": code, **arguments})
        for code in ["m_later"] * 20
    ]
    unknown = OmdSensorTrigger("omd_default", "run", {"code": "m_unknown", **arguments})
    print(json.dumps(await first_event(unknown)), flush=True)
    events = await asyncio.gather(*(first_event(trigger) for trigger in of_runs))
    print(json.dumps(events), flush=True)
    assert not waits.done()
    waits.cancel()
    await long.on_kill()


asyncio.run(main())
