-- V100: events: what was committed, in one order, and the programs that it goes to. Applied once.

CREATE SCHEMA omd_event;
COMMENT ON SCHEMA omd_event IS
'Events: what was committed, in one order, for programs outside.';
