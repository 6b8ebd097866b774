-- One event for each call, whatever it took. Everybody may read the event log, so the text of an
-- error stays out of it.

CREATE OR REPLACE FUNCTION omd_dispatch._note_bulk(
    p_code text,
    p_filter jsonb,
    p_changed bigint,
    p_passed bigint,
    p_words text DEFAULT ''
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_bulk$
BEGIN
    PERFORM omd.write_event(
        0, 0, 4, p_code,
        format(
            '%s: %s tasks%s, %s passed over: %s', omd.editor(), p_changed, p_words, p_passed,
            left(
                (
                    p_filter || CASE WHEN p_filter ? 'error' THEN '{"error": "…"}' ELSE '{}' END::jsonb
                )::text,
                1000
            )
        )
    );
END
$note_bulk$;

COMMENT ON FUNCTION omd_dispatch._note_bulk IS
'Writes the event p_code of a call of a bulk action on the tasks that p_filter describes: it has '
'changed p_changed, as p_words say, and passed over p_passed. Locks: none.';
