-- The allow-list and the index that serves it can't differ, since one call makes both. The spare
-- partition has the index too, or a purge could not exchange it.

CREATE OR REPLACE PROCEDURE omd_dispatch.allow_search(
    p_family_code text,
    p_index_name text,
    p_criteria text[]
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $allow_search$
DECLARE
    v_criterion text;
    v_old text[];
    v_columns text;
    v_index text;
    v_spare_index text;
BEGIN
    PERFORM omd_dispatch._require_family(p_family_code);
    PERFORM omd_dispatch._require_code('p_index_name', upper(p_index_name));
    IF cardinality(p_criteria) = 0 OR array_position(p_criteria, NULL) IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_criteria',
                'value', left(p_criteria::text, 60),
                'expected', 'at least one criterion, or NULL to remove the index'
            )
        );
    END IF;
    FOREACH v_criterion IN ARRAY coalesce(p_criteria, '{}'::text[]) LOOP
        PERFORM omd_dispatch._require_criterion(p_family_code, v_criterion);
    END LOOP;
    -- The name of an index of a partition has the number of its partition too.
    v_index := format('ix_task_data_%s_s_%s', lower(p_family_code), lower(p_index_name));
    IF length(v_index) > 58 THEN
        v_index := format(
            'ix_task_data_%s_s_%s', lower(p_family_code), left(md5(lower(p_index_name)), 8)
        );
    END IF;
    PERFORM FROM omd_dispatch.task_conf_family_desc AS f
    WHERE f.family_code = p_family_code
    FOR NO KEY UPDATE;

    IF EXISTS (
        SELECT FROM omd_dispatch.task_conf_search_allowed AS s
        WHERE s.family_code = p_family_code
            AND s.index_name <> p_index_name
            AND lower(s.index_name) = lower(p_index_name)
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_index_name',
                'value', p_index_name,
                'expected', 'another name: one has it in other letters'
            )
        );
    END IF;
    SELECT array_agg(s.criterion ORDER BY s.criterion) INTO v_old
    FROM omd_dispatch.task_conf_search_allowed AS s
    WHERE s.family_code = p_family_code AND s.index_name = p_index_name;
    IF v_old IS NOT NULL THEN
        IF v_old = ARRAY(SELECT DISTINCT c FROM unnest(p_criteria) AS c ORDER BY 1) THEN
            RETURN;
        END IF;
    ELSIF p_criteria IS NULL THEN
        RETURN;
    END IF;
    -- Who waited for the table itself would have all families wait behind him.
    PERFORM omd_dispatch._change_model(p_family_code, current_setting('lock_timeout'));
    -- No purge exchanges the spare partition while it and the partitions differ.
    PERFORM omd_dispatch._empty_spare_partition(p_family_code);
    IF v_old IS NOT NULL THEN
        DELETE FROM omd_dispatch.task_conf_search_allowed AS s
        WHERE s.family_code = p_family_code AND s.index_name = p_index_name;
        -- The index of the spare partition is the one that is defined alike: a purge gives it
        -- another name.
        SELECT t.indexrelid::regclass::text INTO v_spare_index
        FROM pg_index AS t
        WHERE t.indrelid = omd_dispatch._data_table(p_family_code, '_swap')::regclass
            AND split_part(pg_get_indexdef(t.indexrelid), ' USING ', 2)
            = split_part(
                pg_get_indexdef(format('omd_dispatch.%I', v_index)::regclass), ' USING ', 2
            );
        EXECUTE format('DROP INDEX omd_dispatch.%I%s', v_index, ', ' || v_spare_index);
    END IF;
    IF p_criteria IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO omd_dispatch.task_conf_search_allowed (family_code, index_name, criterion)
    SELECT DISTINCT p_family_code, p_index_name, c FROM unnest(p_criteria) AS c;
    SELECT string_agg(format('%I', 'func_' || lower(c.criterion)), ', ' ORDER BY c.n)
    INTO v_columns
    FROM (
        SELECT u.criterion, min(u.n) AS n
        FROM unnest(p_criteria) WITH ORDINALITY AS u (criterion, n)
        GROUP BY u.criterion
    ) AS c;
    BEGIN
        EXECUTE format(
            'CREATE INDEX %1$I ON %2$s (%4$s, task_id DESC);'
            ' CREATE INDEX ON %3$s (%4$s, task_id DESC)',
            v_index,
            omd_dispatch._data_table(p_family_code),
            omd_dispatch._data_table(p_family_code, '_swap'),
            v_columns
        );
    EXCEPTION
        WHEN program_limit_exceeded THEN
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_criteria',
                    'value', left(p_criteria::text, 60),
                    'expected', format('criteria with shorter values (%s)', sqlerrm)
                )
            );
    END;
    CALL omd_dispatch._name_indexes(omd_dispatch._data_table(p_family_code));
END
$allow_search$;

COMMENT ON PROCEDURE omd_dispatch.allow_search IS
'Allows searches of the family p_family_code that give all of some criteria, and creates the '
'index p_index_name on them, which serves the search. p_criteria: these criteria; NULL removes '
'both. Errors: OM005: p_family_code or p_index_name is NULL; OM013: a name is not allowed, or a '
'task has a value too long for the index; OM070: the family is unknown; OM075: it lacks a '
'criterion. Locks: the family and its spare partition; its table against writes while the index '
'is built. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.allow_search TO omd_admin;
