-- A run either routes every record that it rejects, or none: so the codes are judged from their
-- counts, before anything is committed. The first record is named, in the order of the records.

CREATE OR REPLACE FUNCTION omd_decision._judge(
    p_definition jsonb,
    p_counts jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $judge$
DECLARE
    v_reject record;
    v_detail jsonb;
BEGIN
    SELECT
        l.item ->> 'name' AS link,
        c.item ->> 'code' AS code,
        c.item AS record
    INTO v_reject
    FROM omd.json_items(p_counts) AS c
    INNER JOIN omd.json_items(p_definition -> 'links') AS l
        ON l.item ->> 'name' = c.item ->> 'link'
    WHERE (c.item ->> 'count')::bigint > 0
        AND coalesce(l.item #> '{reject,on}', '[]') @> (c.item -> 'code') IS NOT TRUE
    ORDER BY
        (c.item ->> 'sort_key') COLLATE "C", l.ordinal, (c.item ->> 'arrival')::numeric
    LIMIT 1;
    IF FOUND THEN
        v_detail := jsonb_build_object(
            'stage_code', p_definition -> 'stage',
            'link', v_reject.link,
            'wave', v_reject.record -> 'wave',
            'key', v_reject.record -> 'key',
            'arrival', v_reject.record -> 'arrival'
        );
        IF v_reject.code = 'LEFTOVER' THEN
            PERFORM omd.raise_error('OM280', v_detail);
        END IF;
        PERFORM omd.raise_error('OM281', v_detail);
    END IF;

    SELECT
        l.item ->> 'name' AS link,
        (l.item #>> '{reject,abort_after}')::bigint AS abort_after,
        sum((c.item ->> 'count')::bigint) AS rejected
    INTO v_reject
    FROM omd.json_items(p_counts) AS c
    INNER JOIN omd.json_items(p_definition -> 'links') AS l
        ON l.item ->> 'name' = c.item ->> 'link'
    GROUP BY l.ordinal, l.item
    HAVING sum((c.item ->> 'count')::bigint) > (l.item #>> '{reject,abort_after}')::bigint
    ORDER BY l.ordinal
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM282',
            jsonb_build_object(
                'stage_code', p_definition -> 'stage',
                'link', v_reject.link,
                'rejected', v_reject.rejected,
                'abort_after', v_reject.abort_after
            )
        );
    END IF;
END
$judge$;

COMMENT ON FUNCTION omd_decision._judge IS
'Raises an error when the stage document p_definition forbids what a run has rejected. p_counts: '
'a list of {"link", "code", "count"} with wave, key, sort_key and arrival of the first record. '
'Errors: OM280: LEFTOVER; OM281: KEY_MISMATCH; OM282: more than abort_after. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._judge TO omd_runner;
