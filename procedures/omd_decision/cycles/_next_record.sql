-- The cursor is that of _link_sql: in the order of wave, key and arrival, NULL first. So an arrival
-- that a link cannot have is met beside its neighbour.

CREATE OR REPLACE FUNCTION omd_decision._next_record(
    p_cursor refcursor,
    p_link text,
    p_former omd_decision.link_record
)
RETURNS omd_decision.link_record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $next_record$
DECLARE
    v_record omd_decision.link_record;
BEGIN
    FETCH p_cursor INTO v_record;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF v_record.arrival IS NULL THEN
        PERFORM omd_decision._raise_arrival(
            p_link, v_record.wave, v_record.key, ARRAY[NULL::bigint]
        );
    ELSIF p_former.wave_key IS NULL THEN
        -- It is the first one of the link.
        RETURN v_record;
    ELSIF v_record.wave_key = p_former.wave_key
        AND v_record.sort_key = p_former.sort_key
        AND v_record.arrival = p_former.arrival
    THEN
        PERFORM omd_decision._raise_arrival(
            p_link, v_record.wave, v_record.key, ARRAY[v_record.arrival, p_former.arrival]
        );
    END IF;
    RETURN v_record;
END
$next_record$;

COMMENT ON FUNCTION omd_decision._next_record IS
'Returns the next record of the link p_link from its cursor, or NULLs. p_former: the record before '
'it. Errors: OM289: a NULL arrival; OM290: that of p_former again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._next_record TO omd_reader, omd_runner;
