-- One event for each call, whatever it took.

CREATE OR REPLACE FUNCTION omd._note_bulk(
    p_code text,
    p_filter jsonb,
    p_changed bigint,
    p_passed bigint,
    p_words text DEFAULT NULL
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
        concat_ws(
            ': ', omd.editor(), p_words,
            format(
                '%s instances, %s passed over, of %s', p_changed, p_passed, left(p_filter::text, 1000)
            )
        )
    );
END
$note_bulk$;

COMMENT ON FUNCTION omd._note_bulk IS
'Writes the event p_code of a call of a bulk action on the instances that p_filter describes: it '
'has changed p_changed and passed over p_passed; p_words: why. Locks: none.';
