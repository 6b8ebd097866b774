-- A sort key is made from the value, so two links may have different types of one family, such
-- as integer and bigint.

CREATE OR REPLACE FUNCTION omd_decision._type_family(
    p_type oid
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $type_family$
DECLARE
    v_type oid := p_type;
    v_base oid;
BEGIN
    LOOP
        SELECT t.typbasetype INTO v_base FROM pg_type AS t WHERE t.oid = v_type AND t.typtype = 'd';
        EXIT WHEN NOT FOUND;
        v_type := v_base;
    END LOOP;
    RETURN CASE
        WHEN v_type = 'boolean'::regtype THEN 'boolean'
        WHEN v_type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype) THEN 'integer'
        WHEN v_type IN ('text'::regtype, 'varchar'::regtype) THEN 'text'
        WHEN v_type = 'date'::regtype THEN 'date'
        WHEN v_type = 'timestamp'::regtype THEN 'timestamp'
        WHEN v_type = 'timestamptz'::regtype THEN 'timestamptz'
        WHEN v_type = 'uuid'::regtype THEN 'uuid'
    END;
END
$type_family$;

COMMENT ON FUNCTION omd_decision._type_family IS
'Returns the family of the type p_type, or of the type below a domain: boolean, integer, text, '
'date, timestamp, timestamptz or uuid; NULL for every other type. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._type_family TO omd_reader;
