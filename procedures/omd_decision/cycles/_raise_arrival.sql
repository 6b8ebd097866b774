-- Each reader of records finds such an arrival where it stands, and tells it alike.

CREATE OR REPLACE FUNCTION omd_decision._raise_arrival(
    p_link text,
    p_wave text,
    p_key jsonb,
    p_arrivals bigint[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $raise_arrival$
DECLARE
    v_twice bigint;
BEGIN
    IF array_position(p_arrivals, NULL) IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM289',
            jsonb_build_object(
                'link', p_link, 'problem', 'a record has no arrival', 'wave', p_wave, 'key', p_key
            )
        );
    END IF;
    SELECT a.arrival INTO v_twice
    FROM unnest(p_arrivals) AS a (arrival)
    GROUP BY a.arrival
    HAVING count(*) > 1
    ORDER BY a.arrival
    LIMIT 1;
    PERFORM omd.raise_error(
        'OM290',
        jsonb_build_object('link', p_link, 'wave', p_wave, 'key', p_key, 'arrival', v_twice)
    );
END
$raise_arrival$;

COMMENT ON FUNCTION omd_decision._raise_arrival IS
'Raises the error of the link p_link whose arrivals in p_wave and p_key are p_arrivals, with a '
'NULL or a double one. Errors: OM289, OM290. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._raise_arrival TO omd_reader, omd_runner;
