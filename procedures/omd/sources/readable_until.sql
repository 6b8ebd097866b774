-- Rooms know of some tables how far they are complete, whatever the clock says.

CREATE OR REPLACE FUNCTION omd.readable_until(
    p_table_code text,
    p_column_name text,
    OUT p_until timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $readable_until$
DECLARE
    v_relation record;
    v_bound timestamptz;
    v_is_of_table boolean := FALSE;
BEGIN
    FOR v_relation IN
        SELECT
            r.routine,
            format('%I.%I', n.nspname, c.relname) AS relation_code,
            EXISTS (
                SELECT FROM pg_attribute AS a
                WHERE a.attrelid = r.relation_id
                    AND a.attname = p_column_name
                    AND NOT a.attisdropped
            ) AS has_column
        FROM omd.relations_under(omd.target_relation(p_table_code)) AS r
        INNER JOIN pg_class AS c ON r.relation_id = c.oid
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        ORDER BY r.routine NULLS FIRST, r.relation_id
    LOOP
        IF v_relation.routine IS NULL THEN
            v_is_of_table := v_is_of_table OR v_relation.has_column;
        ELSIF v_relation.has_column OR NOT v_is_of_table THEN
            -- A view over it may give the column another name.
            EXECUTE format('SELECT %s($1, $2)', v_relation.routine)
            INTO v_bound
            USING
                v_relation.relation_code,
                CASE WHEN v_relation.has_column THEN p_column_name END;
            IF v_bound < coalesce(p_until, 'infinity') THEN
                p_until := v_bound;
                p_who := format('%s has all rows up to here', v_relation.relation_code);
            END IF;
        END IF;
    END LOOP;
END
$readable_until$;

COMMENT ON FUNCTION omd.readable_until IS
'For rooms: Returns up to which moment a room (its hook READ_BOUND) says that all rows of the '
'table or view p_table_code are there, by their column p_column_name: p_until, and p_who, which '
'relation it is. NULL when no room says anything. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.readable_until TO omd_runner, omd_admin;
