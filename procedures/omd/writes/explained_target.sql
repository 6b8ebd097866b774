-- A row of a target says by its stamps who wrote it; an update is later than the insertion. The
-- statement is executed with the rights of who asks.

CREATE OR REPLACE FUNCTION omd.explained_target(
    p_table_code text,
    p_key jsonb,
    p_column text,
    OUT relation text,
    OUT chain text,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $explained_target$
DECLARE
    v_code CONSTANT text := omd.quote_table(p_table_code, 'POSTGRES');
    v_oid CONSTANT oid := omd.target_relation(v_code);
    v_types jsonb;
    v_stamps text;
    v_match record;
BEGIN
    IF v_oid IS NULL OR omd.stamp_columns(v_code) = '{}' THEN
        RETURN;
    END IF;
    relation := v_code;
    SELECT jsonb_object_agg(a.attname, format_type(a.atttypid, -1)) INTO v_types
    FROM pg_attribute AS a
    WHERE a.attrelid = v_oid AND a.attnum > 0 AND NOT a.attisdropped;
    SELECT string_agg(format('t.%I::bigint', s.name), ', ' ORDER BY s.place) INTO v_stamps
    FROM unnest(omd.stamp_columns(v_code)) WITH ORDINALITY AS s (name, place)
    WHERE v_types ->> s.name IN ('bigint', 'integer', 'numeric', 'smallint');
    v_match := omd.key_match(v_types, p_key);
    problem := coalesce(
        v_match.problem,
        CASE WHEN NOT v_types ? p_column THEN format('it has no column %s', p_column) END
    );
    chain := format(
        $sql$SELECT
    $1 AS key,
    %s AS value,
    NULL::timestamptz AS valid_from,
    NULL::timestamptz AS valid_until,
    NULL AS record_ind,
    coalesce(%s) AS module_instance_id,
    to_jsonb(t) AS record,
    NULL::integer AS file_no,
    NULL::bigint AS line
FROM jsonb_to_record($1) AS k (%s)
INNER JOIN %s AS t ON %s
LIMIT 2$sql$,
        CASE WHEN p_column IS NULL THEN 'NULL' ELSE format('t.%I', p_column) END || '::text',
        coalesce(v_stamps || ', NULL', 'NULL::bigint, NULL'),
        v_match.definitions,
        v_code,
        v_match.condition
    );
END
$explained_target$;

COMMENT ON FUNCTION omd.explained_target IS
'For rooms: Returns how the row with the key p_key of the table p_table_code is read, with the '
'column p_column (NULL: none) as value: the statement chain, whose parameter is the key; relation, '
'the table; problem, why it can''t be read. All are NULL where the table is the target of no '
'Module in this database. Locks: none.';
