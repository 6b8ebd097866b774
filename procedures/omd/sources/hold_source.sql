-- A new FOR KEY SHARE does not queue behind a waiting FOR UPDATE, so under overlapping readers who
-- takes rows back would wait for ever: it closes the source before. A run that begins does not wait
-- either: it would keep what it has locked. One that commits what it has read elsewhere is at work,
-- so a closed source lets it through, and it waits for who takes rows back.

CREATE OR REPLACE FUNCTION omd.hold_source(
    p_source_code text,
    p_begins boolean DEFAULT TRUE,
    OUT p_is_held boolean,
    OUT p_pos timestamptz,
    OUT p_id bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_source$
BEGIN
    IF p_begins THEN
        SELECT s.pos, s.id INTO p_pos, p_id
        FROM omd.source AS s
        WHERE s.source_code = p_source_code
            AND (s.closed_until IS NULL OR s.closed_until <= clock_timestamp())
        FOR KEY SHARE SKIP LOCKED;
    ELSE
        SELECT s.pos, s.id INTO p_pos, p_id
        FROM omd.source AS s
        WHERE s.source_code = p_source_code
        FOR KEY SHARE;
    END IF;
    p_is_held := FOUND;
END
$hold_source$;

COMMENT ON FUNCTION omd.hold_source IS
'For rooms: Holds the source p_source_code for a run that reads it, until the transaction ends: '
'nobody takes rows of it back meanwhile, but others read it and add to it. Returns p_is_held and '
'its position p_pos and p_id. Not held, and NULL: rows of it are being taken back, so the run '
'begins later; or there is no such source. p_begins FALSE is for the commit of a run that has read '
'it elsewhere, on Spark: it waits. Call it before other locks. Locks: the source, beside readers '
'and those who add to it.';
GRANT EXECUTE ON FUNCTION omd.hold_source TO omd_runner;
