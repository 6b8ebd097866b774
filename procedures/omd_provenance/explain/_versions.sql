-- Business rows are read here, with the rights of who asks: the statements name tables that nobody
-- may read who has only this function. A session that calls no code of users (omd.user_code is
-- off) reads those of OMD alone. A value that its column can't hold is a key that finds
-- nothing, not an error of its own.

CREATE OR REPLACE FUNCTION omd_provenance._versions(
    p_table_code text,
    p_key jsonb,
    p_column text,
    p_at timestamptz
)
RETURNS TABLE (
    is_it boolean,
    key jsonb,
    value text,
    valid_from timestamptz,
    valid_until timestamptz,
    record_ind text,
    module_instance_id bigint,
    record jsonb,
    file_no integer,
    line bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $versions$
DECLARE
    -- After the end of an open row there is nothing new.
    v_at CONSTANT timestamptz := CASE
        WHEN p_at < timestamptz '9999-12-31 00:00:00+00' THEN p_at
    END;
    v_place record := omd_provenance._place(p_table_code, p_key, p_column, v_at);
    v_problem text := v_place.problem;
    v_keys jsonb[] := ARRAY[p_key];
    v_its integer := 0;
BEGIN
    IF current_setting('omd.user_code', TRUE) = 'off' AND v_problem IS NULL AND NOT EXISTS (
        SELECT FROM pg_class AS c
        WHERE c.oid = to_regclass(p_table_code) AND pg_get_userbyid(c.relowner) = 'omd_owner'
    ) THEN
        v_problem := 'omd.user_code is off';
    END IF;
    BEGIN
        IF v_problem IS NULL AND v_place.finder IS NOT NULL THEN
            EXECUTE format('SELECT array_agg(f.key) FROM (%s) AS f', v_place.finder)
            INTO v_keys
            USING p_key, v_at;
        END IF;
        IF v_problem IS NULL AND cardinality(v_keys) = 1 THEN
            FOR is_it, key, value, valid_from, valid_until, record_ind, module_instance_id, record,
                file_no, line IN EXECUTE format(
                    'SELECT CASE WHEN $2 IS NULL'
                    ' THEN c.valid_until IS NULL OR c.valid_until = ''9999-12-31 00:00:00+00'''
                    ' ELSE c.valid_from IS NULL OR (c.valid_from <= $2 AND c.valid_until > $2)'
                    ' END, c.* FROM (%s) AS c',
                    v_place.chain
                )
                USING v_keys[1], v_at
            LOOP
                v_its := v_its + is_it::integer;
                RETURN NEXT;
            END LOOP;
        END IF;
    EXCEPTION
        WHEN data_exception OR undefined_function THEN
            v_problem := SQLERRM;
    END;
    v_problem := CASE
        WHEN v_problem IS NOT NULL THEN v_problem
        WHEN cardinality(v_keys) > 1 OR v_its > 1
            THEN 'more than one row has this key'
        WHEN v_its = 0 AND v_at IS NULL THEN 'no row has this key'
        WHEN v_its = 0 THEN 'no row has this key at ' || v_at
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM093',
            jsonb_build_object(
                'table_code', p_table_code,
                'problem', v_problem,
                'way_out', CASE
                    WHEN v_place.relation IS NULL
                        THEN 'SELECT table_code FROM omd_report.module_list;'
                    ELSE format('SELECT * FROM %s WHERE …;', v_place.relation)
                END
            )
        );
    END IF;
END
$versions$;

COMMENT ON FUNCTION omd_provenance._versions IS
'Returns all versions that are kept of the one row of p_table_code with the key p_key, with the '
'column p_column (NULL: none) as value, in the order of their time; is_it: it holds at p_at (NULL: '
'now). Errors: OM093: there is not exactly one row, or the table can''t be explained. Locks: '
'ACCESS SHARE on the table.';
GRANT EXECUTE ON FUNCTION omd_provenance._versions TO omd_data_reader;
