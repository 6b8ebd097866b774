-- Of a table that a view reads twice, pg_depend knows once. How often it is read stands in the
-- trees of the views, in which no name of a user can look like these words: a space in a name is
-- escaped. A condition on the block cuts one read, so what is read oftener than it is cut is read
-- whole. Where that is in doubt, it is read whole: a bound may name too many runs, and no reader is
-- missed.

CREATE OR REPLACE FUNCTION omd._uncut_reads(
    p_class_id oid,
    p_object_id oid,
    p_tables text[],
    p_table oid,
    p_block_view oid,
    p_cut_by oid[],
    p_path oid[] DEFAULT '{}'
)
RETURNS integer
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $uncut_reads$
DECLARE
    v_is_relation CONSTANT boolean := p_class_id = 'pg_class'::regclass;
    v_tree text;
    v_reads integer := 0;
    v_part record;
BEGIN
    IF v_is_relation THEN
        IF p_object_id = p_block_view THEN
            RETURN 0;
        ELSIF p_object_id = p_table THEN
            RETURN 1;
        END IF;
        SELECT format('%I.%I', n.nspname, c.relname) AS name,
            c.relkind NOT IN ('v', 'm') OR omd._bound_routine(c.oid) IS NOT NULL AS is_base
        INTO v_part
        FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE c.oid = p_object_id;
        IF v_part.is_base THEN
            RETURN (omd.base_tables(v_part.name) && p_tables)::integer;
        END IF;
        SELECT string_agg(r.ev_action::text, ' ') INTO v_tree
        FROM pg_rewrite AS r
        WHERE r.ev_class = p_object_id;
    ELSE
        SELECT p.prosqlbody::text INTO v_tree FROM pg_proc AS p WHERE p.oid = p_object_id;
    END IF;
    FOR v_part IN
        SELECT DISTINCT k.refclassid AS class_id, k.refobjid AS object_id
        FROM pg_depend AS k
        LEFT JOIN pg_rewrite AS r ON r.ev_class = p_object_id AND v_is_relation
        WHERE k.classid = CASE WHEN v_is_relation THEN 'pg_rewrite'::regclass ELSE p_class_id END
            AND k.objid = CASE WHEN v_is_relation THEN r.oid ELSE p_object_id END
            AND k.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
            AND k.refobjid <> ALL(p_cut_by || p_path || p_object_id)
    LOOP
        v_reads := v_reads
            + omd._uncut_reads(
                v_part.class_id, v_part.object_id, p_tables, p_table, p_block_view, p_cut_by,
                p_path || p_object_id
            )
            * greatest(
                1,
                regexp_count(
                    v_tree,
                    format(
                        CASE v_part.class_id
                            WHEN 'pg_class'::regclass THEN ':rtekind 0 :relid %s '
                            ELSE ':funcid %s '
                        END,
                        v_part.object_id
                    )
                )
            );
    END LOOP;
    SELECT (v_reads - coalesce(sum(regexp_count(v_tree, format(':funcid %s ', c.id))), 0))::integer
    INTO v_reads
    FROM unnest(p_cut_by) AS c (id);
    -- A function with the condition cuts for the view that calls it; a view cuts only its own reads.
    RETURN CASE WHEN v_is_relation THEN greatest(v_reads, 0) ELSE v_reads END;
END
$uncut_reads$;

COMMENT ON FUNCTION omd._uncut_reads IS
'Returns how often the view or function p_object_id (of the catalogue p_class_id) reads one of the '
'tables p_tables without one of the conditions p_cut_by, which cut a read to a block; a negative '
'number: a function has more conditions than reads. p_table: the table or view that is cut; '
'p_block_view: the view that has only a block, or NULL. p_path: what was gone through on '
'the way. Locks: none.';
