-- It answers the value, so that it is called in an assignment: PL/pgSQL evaluates that by itself,
-- where a PERFORM is a statement that the executor starts and ends. A call costs a microsecond, and
-- an IF a twentieth of it, so what each run, step, write or task calls has its own IF.

CREATE OR REPLACE FUNCTION omd.require_argument(
    p_argument text,
    p_value anyelement
)
RETURNS anyelement
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_argument$
BEGIN
    IF p_value IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', p_argument));
    END IF;
    RETURN p_value;
END
$require_argument$;

COMMENT ON FUNCTION omd.require_argument IS
'For rooms: Refuses NULL as the value p_value of the argument p_argument, and returns any other '
'value. Errors: OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.require_argument TO omd_reader, omd_data_reader;
