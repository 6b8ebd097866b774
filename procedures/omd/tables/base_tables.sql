-- A view stands for the tables under it, a partition for its topmost parent: rows of the one are
-- read through the other. A room says for what its own views stand. A name that is no relation here
-- is one of the lake, or is not there yet.

CREATE OR REPLACE FUNCTION omd.base_tables(
    p_table_code text
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $base_tables$
DECLARE
    v_relation oid;
    v_base record;
    v_tables text[] := '{}'::text[];
    v_named text[];
BEGIN
    -- A name that is none is kept as it is.
    IF omd.spell_table(p_table_code) IS NULL THEN
        RETURN ARRAY[p_table_code];
    END IF;
    v_relation := omd.target_relation(p_table_code);
    IF v_relation IS NULL THEN
        RETURN ARRAY[omd.spell_table(p_table_code)];
    END IF;
    FOR v_base IN
        SELECT
            u.relation_id,
            (
                SELECT min(s.routine)
                FROM omd.room_hook AS b
                INNER JOIN omd.room_hook AS s ON b.for_code = s.for_code AND b.room = s.room
                WHERE b.hook = 'READ_BOUND' AND s.hook = 'STANDS_FOR' AND b.routine = u.routine
            ) AS base_routine
        FROM omd.relations_under(v_relation) AS u
    LOOP
        v_named := NULL;
        IF v_base.base_routine IS NOT NULL THEN
            EXECUTE format('SELECT %s($1)', v_base.base_routine)
            INTO v_named USING v_base.relation_id;
        END IF;
        v_tables := v_tables || coalesce(
            v_named,
            ARRAY(
                SELECT format('%I.%I', n.nspname, c.relname)
                FROM unnest(omd.topmost_parents(v_base.relation_id)) AS t (relation_id)
                INNER JOIN pg_class AS c ON t.relation_id = c.oid
                INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
            )
        );
    END LOOP;
    RETURN ARRAY(SELECT DISTINCT t.table_code FROM unnest(v_tables) AS t (table_code));
END
$base_tables$;

COMMENT ON FUNCTION omd.base_tables IS
'For rooms: returns the tables for which the table or view p_table_code stands in the ledger of '
'inputs: those under a view, the topmost parents of a partition, the entities of an offered view '
'of facts; the name itself, where it is no relation here. Locks: none.';
