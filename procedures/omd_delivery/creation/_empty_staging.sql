-- A TRUNCATE leaves no dead rows behind, however much was staged.

CREATE OR REPLACE FUNCTION omd_delivery._empty_staging(
    p_agreement_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $empty_staging$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT a.staging_schema, e.entity_code
        FROM omd_delivery.agreement AS a
        INNER JOIN omd_delivery.entity AS e USING (interface_id)
        WHERE a.agreement_id = p_agreement_id AND NOT e.is_retired AND NOT e.is_derived
        ORDER BY e.entity_id
    LOOP
        EXECUTE format('TRUNCATE %I.%I', v_table.staging_schema, v_table.entity_code);
    END LOOP;
END
$empty_staging$;

COMMENT ON FUNCTION omd_delivery._empty_staging IS
'Empties the staging tables of the agreement p_agreement_id. Locks: those tables, exclusively.';
