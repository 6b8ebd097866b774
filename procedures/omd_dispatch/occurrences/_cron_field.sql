-- A field is a list of *, numbers or names, and ranges of them; * and ranges may have a step.

CREATE OR REPLACE FUNCTION omd_dispatch._cron_field(
    p_field text,
    p_low integer,
    p_high integer,
    p_names text[] DEFAULT '{}'::text[]
)
RETURNS integer[]
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $cron_field$
DECLARE
    v_item text;
    v_parts text[];
    v_numbers integer[];
    v_answer integer[] := '{}'::integer[];
BEGIN
    IF p_field IS NULL THEN
        RETURN NULL;
    END IF;
    FOREACH v_item IN ARRAY string_to_array(upper(p_field), ',') LOOP
        v_parts := regexp_match(
            v_item,
            '^(?:(\*)|([0-9]{1,4}|[A-Z]{3})(?:-([0-9]{1,4}|[A-Z]{3}))?)(?:/([0-9]{1,4}))?$'
        );
        -- A step needs something to step over.
        IF v_parts IS NULL
            OR (v_parts[4] IS NOT NULL AND v_parts[1] IS NULL AND v_parts[3] IS NULL)
        THEN
            RETURN NULL;
        END IF;
        SELECT array_agg(
            CASE
                WHEN p.part ~ '^[0-9]' THEN p.part::integer
                ELSE array_position(p_names, p.part) + p_low - 1
            END
            ORDER BY p.n
        )
        INTO v_numbers
        FROM unnest(
            ARRAY[
                coalesce(v_parts[2], p_low::text),
                coalesce(v_parts[3], v_parts[2], p_high::text),
                coalesce(v_parts[4], '1')
            ]
        ) WITH ORDINALITY AS p (part, n);
        IF array_position(v_numbers, NULL) IS NOT NULL
            OR v_numbers[1] < p_low
            OR v_numbers[2] > p_high
            OR v_numbers[1] > v_numbers[2]
            OR v_numbers[3] = 0
        THEN
            RETURN NULL;
        END IF;
        v_answer := v_answer || ARRAY(
            SELECT g FROM generate_series(v_numbers[1], v_numbers[2], v_numbers[3]) AS g
        );
    END LOOP;
    RETURN nullif(ARRAY(SELECT DISTINCT a FROM unnest(v_answer) AS a ORDER BY 1), '{}');
END
$cron_field$;

COMMENT ON FUNCTION omd_dispatch._cron_field IS
'Returns the numbers from p_low to p_high that the cron field p_field names; p_names are the names'
' of the numbers, from p_low. NULL: it is no such field. Locks: none.';
