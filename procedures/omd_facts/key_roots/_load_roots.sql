-- What a load and a resync do first.

CREATE OR REPLACE FUNCTION omd_facts._load_roots(
    p_interface_id integer,
    p_delivery_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $load_roots$
DECLARE
    v_statement text;
BEGIN
    FOR v_statement IN SELECT s FROM omd_facts._root_statements(p_interface_id) AS s LOOP
        EXECUTE v_statement USING p_delivery_id;
    END LOOP;
END
$load_roots$;

COMMENT ON FUNCTION omd_facts._load_roots IS
'Inserts the key roots that the delta of p_delivery_id in the interface p_interface_id names. '
'Locks: their rows.';
