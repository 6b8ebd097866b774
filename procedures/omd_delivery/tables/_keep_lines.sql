-- A run has the columns of its tables from its begin, so the tables change while none executes. An
-- agreement that keeps no lines any more leaves the columns: they have the lines of its past.

CREATE OR REPLACE FUNCTION omd_delivery._keep_lines(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $keep_lines$
DECLARE
    v_entity_id integer;
    v_is_at_rest boolean := FALSE;
BEGIN
    IF NOT omd_delivery._wants_lines(p_interface_id) THEN
        RETURN;
    END IF;
    FOR v_entity_id IN
        SELECT e.entity_id
        FROM omd_delivery.entity AS e
        INNER JOIN omd_delivery.interface AS i USING (interface_id)
        WHERE e.interface_id = p_interface_id
            AND NOT (
                omd_delivery._has_lines(format('%I.%I', i.lvl_schema, e.entity_code))
                AND omd_delivery._has_lines(
                    format('%I.%I', i.work_schema, 'delta_' || e.entity_code)
                )
            )
        ORDER BY e.ordinal
    LOOP
        IF NOT v_is_at_rest THEN
            PERFORM omd_delivery._require_rest(p_interface_id);
            v_is_at_rest := TRUE;
        END IF;
        CALL omd_delivery._make_tables(v_entity_id);
    END LOOP;
END
$keep_lines$;

COMMENT ON FUNCTION omd_delivery._keep_lines IS
'Gives the tables of the interface p_interface_id their columns of file and line, where an '
'agreement over it keeps lines and they lack. Errors: OM136: a run of it executes. Locks: the '
'tables that change.';
