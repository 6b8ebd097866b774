-- No other session may write to the destination meanwhile: what this one replaces is what it has
-- kept. So UPDATE and INSERT do what ON CONFLICT would, but use up no value of an identity column,
-- and two NULLs in a key are equal. The settings make the text of a value one that any session
-- reads back, as for a dump.

CREATE OR REPLACE FUNCTION omd_lineage._replace_rows(
    p_table regclass,
    p_key text[],
    p_block_table text,
    p_key_table text,
    p_columns text[],
    p_insert_instance_column text,
    p_module_instance_id bigint,
    OUT p_inserted bigint,
    OUT p_updated bigint,
    OUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $replace_rows$
DECLARE
    v_may_lose_rows boolean;
    v_is_in_place boolean := omd_lineage._has_unique_key(p_table, p_key);
    v_has_nulls boolean;
    v_kept_columns text[];
    v_keep text;
    v_conditions text[];
    v_condition text;
    v_rows bigint;
BEGIN
    v_may_lose_rows := omd_lineage._lock_destination(p_table);
    SELECT array_agg(a.attname::text ORDER BY a.attnum) INTO v_kept_columns
    FROM pg_attribute AS a
    WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    PERFORM omd_lineage._begin_replacement(
        p_module_instance_id, p_table, p_key, v_kept_columns
    );
    -- What the step itself has written before is not a row of another run.
    v_keep := format(
        'SELECT sum(omd_lineage._keep_rows($1, c.written_by, c.content)) FROM ('
        'SELECT array_agg(g.written_by) AS written_by, array_agg(g.content) AS content FROM ('
        'SELECT o.%1$I::bigint AS written_by, ROW(%2$s)::text AS content,'
        ' (row_number() OVER () - 1) / 1000 AS part FROM old AS o'
        ' WHERE o.%1$I IS DISTINCT FROM $1) AS g GROUP BY g.part) AS c',
        p_insert_instance_column,
        (SELECT string_agg(format('o.%I', k.name), ', ') FROM unnest(v_kept_columns) AS k (name))
    );
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %s AS k WHERE %s)',
        p_key_table,
        (SELECT string_agg(format('k.%I IS NULL', k.name), ' OR ') FROM unnest(p_key) AS k (name))
    ) INTO v_has_nulls;

    p_deleted := 0;
    p_updated := 0;
    v_conditions := omd_lineage._match_keys(p_table, p_key, 'p', 'k', v_has_nulls);
    IF v_is_in_place THEN
        IF p_key_table = p_block_table THEN
            v_conditions := v_conditions[2:];
        ELSE
            EXECUTE format(
                'DELETE FROM %s AS k USING %s AS p WHERE %s',
                p_key_table, p_block_table, v_conditions[1]
            );
        END IF;
    END IF;
    -- A row that is deleted and inserted again is gone for what refers to it.
    IF v_may_lose_rows AND v_conditions <> '{}' THEN
        PERFORM omd_lineage._refuse_loss(
            p_table,
            (
                SELECT string_agg(
                    format('EXISTS (SELECT FROM %s AS k WHERE %s)', p_key_table, m.condition), ' OR '
                )
                FROM unnest(v_conditions) AS m (condition)
            ),
            ARRAY[p_module_instance_id]
        );
    END IF;
    FOREACH v_condition IN ARRAY v_conditions LOOP
        EXECUTE format(
            'WITH old AS (DELETE FROM %s AS p USING %s AS k WHERE %s RETURNING p.*)'
            ' SELECT (SELECT count(*) FROM old), (%s)',
            p_table, p_key_table, v_condition, v_keep
        ) INTO v_rows USING p_module_instance_id;
        p_deleted := p_deleted + v_rows;
    END LOOP;

    IF v_is_in_place THEN
        v_condition := (omd_lineage._match_keys(p_table, p_key, 'd', 'n', FALSE))[1];
        EXECUTE format(
            'WITH old AS (SELECT d.* FROM %s AS d INNER JOIN %s AS n ON %s) %s',
            p_table, p_block_table, v_condition, v_keep
        ) USING p_module_instance_id;
        EXECUTE format(
            'WITH written AS (UPDATE %s AS d SET %s FROM %s AS n WHERE %s RETURNING n.ctid AS place),'
            ' gone AS (DELETE FROM %s AS n USING written AS w WHERE n.ctid = w.place)'
            ' SELECT count(*) FROM written',
            p_table,
            (
                SELECT string_agg(format('%1$I = n.%1$I', c.name), ', ')
                FROM unnest(p_columns) AS c (name)
            ),
            p_block_table, v_condition, p_block_table
        ) INTO p_updated;
    END IF;
    EXECUTE format(
        'INSERT INTO %s (%s) SELECT %s FROM %s AS n',
        p_table,
        (SELECT string_agg(quote_ident(c.name), ', ') FROM unnest(p_columns) AS c (name)),
        (SELECT string_agg(format('n.%I', c.name), ', ') FROM unnest(p_columns) AS c (name)),
        p_block_table
    );
    GET DIAGNOSTICS p_inserted = ROW_COUNT;
END
$replace_rows$;

COMMENT ON FUNCTION omd_lineage._replace_rows IS
'Replaces the rows of p_table whose key p_key is in the temporary table p_key_table by those of '
'the temporary table p_block_table, of which it writes p_columns, and keeps them for an undo of '
'p_module_instance_id. Where the key is unique, a row is updated in its place, else it is deleted '
'and inserted. p_block_table may be p_key_table; rows are taken out of both. Returns the numbers '
'of rows p_inserted, p_updated and p_deleted. Errors: OM118: rows of other runs would go with them.'
' Locks: p_table, against other writers; where rows of other runs could go with its rows, also '
'against references.';
GRANT EXECUTE ON FUNCTION omd_lineage._replace_rows TO omd_runner;
