-- The index gives the newest tasks first; further criteria filter.

CREATE OR REPLACE FUNCTION omd_dispatch.search_tasks(
    p_family_code text,
    p_criteria jsonb,
    p_task_types text[] DEFAULT NULL,
    p_statuses text[] DEFAULT NULL,
    p_limit integer DEFAULT 100,
    p_before_task_id bigint DEFAULT NULL
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    payload jsonb,
    execution_time timestamptz,
    priority integer,
    attempt integer,
    claim_token bigint,
    partition_code integer,
    status text,
    outcome text,
    error text,
    suspension_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $search_tasks$
DECLARE
    v_where text;
    v_criterion text;
BEGIN
    PERFORM omd_dispatch._require_family(p_family_code);
    PERFORM omd_dispatch._require_new_model(p_family_code);
    PERFORM omd_dispatch.search_index(p_family_code, p_criteria);
    PERFORM omd_dispatch._require_type(p_family_code, t) FROM unnest(p_task_types) AS t;
    IF NOT p_statuses <@ '{PENDING,CLAIMED,DONE,DEAD,CANCELLED}' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_statuses',
                'value', left(p_statuses::text, 60),
                'expected', 'of PENDING, CLAIMED, DONE, DEAD and CANCELLED'
            )
        );
    END IF;
    IF p_limit IS NULL OR p_limit NOT BETWEEN 1 AND 1000 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_limit',
                'value', coalesce(p_limit::text, 'NULL'),
                'expected', 'from 1 to 1000'
            )
        );
    END IF;
    SELECT c.key INTO v_criterion
    FROM jsonb_each(p_criteria) AS c
    WHERE jsonb_typeof(c.value) IN ('object', 'array')
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM078',
            jsonb_build_object(
                'family_code', p_family_code,
                'criterion', v_criterion,
                'problem', 'it is no scalar'
            )
        );
    END IF;
    SELECT string_agg(
        format('t.%I = ($1 ->> %L)::%s', 'func_' || lower(m.criterion), m.criterion, m.data_type),
        ' AND '
    )
    INTO v_where
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code AND p_criteria ->> m.criterion IS NOT NULL;
    BEGIN
        RETURN QUERY EXECUTE format(
            'SELECT t.task_id, $2, t.task_type, %s, t.payload, t.execution_time,'
            ' t.priority::integer, t.attempt, t.claim_token, t.partition_code, t.status, t.outcome,'
            ' omd_dispatch._shown_error(t.error), %s FROM %s AS t WHERE %s'
            ' AND (t.task_type = ANY($3) OR $3 IS NULL) AND (t.status = ANY($4) OR $4 IS NULL)'
            ' AND (t.task_id < $5 OR $5 IS NULL) ORDER BY t.task_id DESC LIMIT $6',
            omd_dispatch._criteria_sql(p_family_code),
            -- It is held before it is marked, and no more when the mark is still to go.
            CASE
                WHEN EXISTS (
                    SELECT FROM omd_dispatch.task_suspension AS s
                    WHERE s.family_code = p_family_code AND s.resumed_at IS NULL
                )
                    THEN format(
                        'CASE WHEN t.status = ''PENDING'' THEN'
                        ' omd_dispatch._matching_suspension($2, t.task_type, %s) END',
                        omd_dispatch._criteria_sql(p_family_code)
                    )
                ELSE 'NULL::bigint'
            END,
            omd_dispatch._data_table(p_family_code),
            v_where
        ) USING p_criteria, p_family_code, p_task_types, p_statuses, p_before_task_id, p_limit;
    EXCEPTION
        WHEN data_exception THEN
            PERFORM omd_dispatch._raise_invalid_criterion(
                p_family_code, NULL,
                jsonb_build_array(jsonb_build_object('criteria', p_criteria)), '{}'
            );
            RAISE;
    END;
END
$search_tasks$;

COMMENT ON FUNCTION omd_dispatch.search_tasks IS
'Returns up to p_limit tasks (1 to 1000) of p_family_code whose criteria are p_criteria, the '
'newest first. p_task_types, p_statuses: only these. p_before_task_id: only older ones, for the '
'next page. Errors: OM005: p_family_code or a type is NULL; OM013: an argument is not allowed; '
'OM070: the family is unknown; OM071: a type is unknown; OM075: it lacks a criterion; OM078: a '
'value is not of its type; OM079: no index serves the search; OM173: the old model is master. '
'Locks: none. May be NULL: payload, claim_token, outcome, error, suspension_id.';
GRANT EXECUTE ON FUNCTION omd_dispatch.search_tasks TO omd_reader;
