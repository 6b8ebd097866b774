-- A time without a zone is another instant in each session, and a number with fractions has no
-- place in a position, so rows would be lost or taken twice. A table or column that is missing is
-- no concern of this function, since it may come later. It reads the catalog only.

CREATE OR REPLACE FUNCTION omd_lineage._require_position(
    p_table_code text,
    p_pos_column text,
    p_id_column text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_position$
DECLARE
    v_table oid := omd.target_relation(p_table_code);
    v_problem text;
BEGIN
    SELECT
        format(
            'its column %I is of type %s, not %s', a.attname,
            format_type(a.atttypid, a.atttypmod),
            CASE a.attname WHEN p_pos_column THEN 'timestamptz' ELSE 'an integer' END
        )
    INTO v_problem
    FROM pg_attribute AS a
    INNER JOIN pg_type AS t ON a.atttypid = t.oid
    WHERE a.attrelid = v_table
        AND a.attname IN (p_pos_column, p_id_column)
        AND CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END <> ALL(
            CASE a.attname
                WHEN p_pos_column THEN '{timestamptz}'::regtype[]
                ELSE '{smallint,integer,bigint}'
            END
        )
    ORDER BY a.attnum
    LIMIT 1;
    -- By the id alone the order of the ids is all there is, and each session would take its ids
    -- from a stock of its own.
    IF v_problem IS NULL AND p_pos_column = '' THEN
        SELECT format('the sequence %s of its column %I has a cache', s.seqrelid::regclass, a.attname)
        INTO v_problem
        FROM pg_attribute AS a
        LEFT JOIN pg_attrdef AS f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
        CROSS JOIN LATERAL (
            SELECT d.objid AS sequence_oid FROM pg_depend AS d
            WHERE d.refclassid = 'pg_class'::regclass
                AND d.refobjid = a.attrelid
                AND d.refobjsubid = a.attnum
                AND d.classid = 'pg_class'::regclass
                AND d.deptype = 'i'
            UNION ALL
            SELECT d.refobjid FROM pg_depend AS d
            WHERE d.classid = 'pg_attrdef'::regclass
                AND d.objid = f.oid
                AND d.refclassid = 'pg_class'::regclass
        ) AS q
        INNER JOIN pg_sequence AS s ON q.sequence_oid = s.seqrelid
        WHERE a.attrelid = v_table AND a.attname = p_id_column AND s.seqcache > 1
        LIMIT 1;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM206', jsonb_build_object('table_code', p_table_code, 'problem', v_problem)
        );
    END IF;
END
$require_position$;

COMMENT ON FUNCTION omd_lineage._require_position IS
'Refuses a table p_table_code (schema.table) whose columns p_pos_column (empty: none) and '
'p_id_column can''t be a position: the first is to be a timestamptz, the second an integer, and '
'without the first the ids come from a sequence without a cache. Errors: OM206: they are not. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._require_position TO omd_runner, omd_admin;
