-- V060: decision: what a stage reads of a link is one value. Applied once.

CREATE TYPE omd_decision.link_record AS (
    wave text,
    wave_key text,
    sort_key text,
    key jsonb,
    arrival bigint,
    record jsonb
);
COMMENT ON TYPE omd_decision.link_record IS
'A record of a link: its wave as text and as what waves are ordered by, its sort key, key and '
'arrival, and all of it. Behind the last record of a link all of this is NULL; only there the sort '
'key of the wave is.';
