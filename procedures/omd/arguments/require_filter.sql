-- The rooms have different filters of one form: a JSON object that names what is looked for. What
-- it does not name it does not restrict, so a mistake in it would touch more than was meant:
-- nothing is guessed, and nothing is empty.

CREATE OR REPLACE FUNCTION omd.require_filter(
    p_filter jsonb,
    p_shape jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $require_filter$
DECLARE
    v_problem text;
    v_given record;
BEGIN
    IF jsonb_typeof(p_filter) IS DISTINCT FROM 'object' THEN
        v_problem := 'is no JSON object';
    ELSE
        SELECT
            CASE
                WHEN s.key IS NULL THEN format('names "%s"', left(f.key, 60))
                WHEN f.key IS NULL THEN format('leaves out %s', s.key)
                WHEN s.value ->> 'kind' IN ('text', 'time')
                    THEN format('has %s that is no text', s.key) || v.words
                WHEN s.value ->> 'kind' = 'object'
                    THEN format('has %s that is no JSON object with something in it', s.key)
                WHEN s.value ->> 'kind' = 'id' THEN format('has %s that is no number', s.key)
                WHEN s.value ->> 'kind' = 'ids'
                    THEN format('has %s that is no list of one number or more', s.key)
                ELSE
                    format('has %s that is no list of one text or more', s.key) || v.words
            END
        INTO v_problem
        FROM jsonb_each(p_filter) AS f
        FULL JOIN jsonb_each(p_shape) AS s ON f.key = s.key
        CROSS JOIN LATERAL (
            SELECT
                array_agg(c.code) AS codes,
                coalesce(' of ' || string_agg(c.code, ', '), '') AS words
            FROM jsonb_array_elements_text(s.value -> 'of') AS c (code)
        ) AS v
        WHERE s.key IS NULL
            OR (
                CASE
                    WHEN f.key IS NULL THEN coalesce((s.value ->> 'required')::boolean, FALSE)
                    WHEN s.value ->> 'kind' IN ('text', 'time')
                        THEN jsonb_typeof(f.value) <> 'string'
                            OR s.value ? 'of' AND f.value #>> '{}' <> ALL(v.codes)
                    WHEN s.value ->> 'kind' = 'object'
                        THEN jsonb_typeof(f.value) <> 'object' OR f.value = '{}'
                    WHEN s.value ->> 'kind' = 'id'
                        THEN jsonb_typeof(f.value) <> 'number' OR f.value::text !~ '^[0-9]{1,18}$'
                    ELSE
                        jsonb_typeof(f.value) <> 'array'
                        OR f.value = '[]'
                        OR EXISTS (
                            SELECT FROM omd.json_items(f.value) AS i
                            WHERE CASE
                                WHEN s.value ->> 'kind' = 'ids'
                                    THEN jsonb_typeof(i.item) <> 'number'
                                        OR i.item::text !~ '^[0-9]{1,18}$'
                                ELSE
                                    jsonb_typeof(i.item) <> 'string'
                                    OR s.value ? 'of' AND i.item #>> '{}' <> ALL(v.codes)
                            END
                        )
                END
            )
        ORDER BY s.key IS NOT NULL, f.key IS NOT NULL, coalesce(f.key, s.key)
        LIMIT 1;
    END IF;
    IF v_problem IS NULL THEN
        FOR v_given IN
            SELECT s.key, p_filter ->> s.key AS value
            FROM jsonb_each(p_shape) AS s
            WHERE s.value ->> 'kind' = 'time' AND p_filter ? s.key
        LOOP
            BEGIN
                PERFORM v_given.value::timestamptz;
            EXCEPTION
                WHEN data_exception THEN
                    v_problem := format('has %s that is no time', v_given.key);
            END;
        END LOOP;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM099',
            jsonb_build_object(
                'problem', v_problem,
                'allowed', (
                    SELECT
                        string_agg(
                            s.key || CASE WHEN s.is_required THEN ' (required)' ELSE '' END,
                            ', ' ORDER BY s.is_required DESC, s.key
                        )
                    FROM (
                        SELECT s.key, coalesce((s.value ->> 'required')::boolean, FALSE) AS is_required
                        FROM jsonb_each(p_shape) AS s
                    ) AS s
                )
            )
        );
    END IF;
END
$require_filter$;

COMMENT ON FUNCTION omd.require_filter IS
'For rooms: Refuses a filter p_filter that is not of the shape p_shape, {name: {"kind": text, '
'texts, id, ids, time or object, "required": true, "of": [the texts that are allowed]}}. Errors: '
'OM099. Locks: none.';
