"""The attack on servers (servers.py), in short; by hand it goes on for ten minutes.

python tests/faults/servers.py --seconds 600
"""

from __future__ import annotations

import pytest

from faults.servers import Attack
from support.lots import SEED, seconds

KINDS = (*("table",) * 4, *("lake",) * 3, "batch", "batch", "worker", "delivery")


@pytest.mark.random
@pytest.mark.kill
def test_whatever_becomes_of_a_server_no_id_is_given_twice() -> None:
    told: list[str] = [f"OMD_SEED={SEED}"]
    events = ("failover", "restart", "recover", "rewind", "dump", "copy", "template", "snapshot")
    with Attack(str(SEED), kinds=KINDS, first=18, tell=told.append) as attack:
        attack.play(seconds(25, least=25), events, rest=1.0)
        assert attack.problems == [], "\n".join(told)
        assert len(attack.given) > 300
        assert sum(attack.counted[event] for event in events) > 1


@pytest.mark.kill
def test_the_attack_finds_an_id_that_is_given_twice() -> None:
    """A standby is promoted on which nothing is passed over."""
    with Attack("1", kinds=("table", "lake", "worker"), first=18, tell=lambda _: None) as attack:
        attack.new_world()
        attack.primary.execute(
            "CREATE OR REPLACE FUNCTION omd.unready_for_id() RETURNS TABLE (is_unready boolean)"
            " LANGUAGE sql STABLE AS 'SELECT TRUE WHERE FALSE'"
        )
        attack.start_sessions()
        attack.failover()
        attack.go_on()
        assert any("was given to" in problem for problem in attack.problems)
