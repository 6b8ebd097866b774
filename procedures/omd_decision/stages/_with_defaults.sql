-- A document is compared with the former one as it counts: with its defaults, and with one
-- spelling of everything that has several. It may be wrong still, so nothing here relies on its
-- shape.

CREATE OR REPLACE FUNCTION omd_decision._with_defaults(
    p_stage jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $with_defaults$
DECLARE
    v_stage jsonb := CASE WHEN jsonb_typeof(p_stage) = 'object' THEN p_stage ELSE '{}' END;
    v_is_key boolean := coalesce(v_stage ->> 'mode' = 'KEY', FALSE);
BEGIN
    v_stage := jsonb_build_object(
        'mode', 'BATCH',
        'batch_size', CASE WHEN v_is_key THEN 0 ELSE 1 END,
        'keep', 'CYCLES',
        'max_array_rows', 100000,
        'module', '{}'::jsonb
    ) || v_stage;
    IF jsonb_typeof(v_stage -> 'module') = 'object' THEN
        v_stage := v_stage || jsonb_build_object(
            'module',
            jsonb_build_object('module_code', v_stage -> 'stage', 'area_code', 'PRES')
            || (v_stage -> 'module')
        );
    END IF;
    IF jsonb_typeof(v_stage -> 'start') = 'object' AND v_stage -> 'start' ? 'every' THEN
        v_stage := jsonb_set(
            v_stage,
            '{start,every}',
            coalesce(
                to_jsonb(omd_decision._interval(v_stage #>> '{start,every}')::text),
                v_stage #> '{start,every}'
            )
        );
    END IF;
    IF jsonb_typeof(v_stage -> 'window') = 'object' AND NOT v_stage -> 'window' ? 'by' THEN
        v_stage := v_stage || jsonb_build_object(
            'window',
            (v_stage -> 'window') || jsonb_build_object(
                'delay',
                coalesce(
                    omd_decision._interval(coalesce(v_stage #>> '{window,delay}', '0'))::text,
                    v_stage #>> '{window,delay}'
                )
            )
        );
    END IF;
    IF jsonb_typeof(v_stage -> 'keys') = 'array' THEN
        v_stage := v_stage || jsonb_build_object('keys', (
            SELECT
                coalesce(
                    jsonb_agg(
                        CASE
                            WHEN jsonb_typeof(k.item) = 'object'
                                THEN '{"direction": "ASC"}'::jsonb || k.item
                            ELSE k.item
                        END
                        ORDER BY k.ordinal
                    ),
                    '[]'
                )
            FROM omd.json_items(v_stage -> 'keys') AS k
        ));
    END IF;
    IF jsonb_typeof(v_stage -> 'links') = 'array' THEN
        v_stage := v_stage || jsonb_build_object('links', (
            SELECT
                jsonb_agg(
                    CASE
                        WHEN jsonb_typeof(l.item) = 'object'
                            THEN
                                jsonb_build_object(
                                    'array', TRUE, 'buffer', FALSE, 'parameter', l.item -> 'name'
                                )
                                || l.item
                                || CASE
                                    WHEN
                                        omd.quote_table(l.item ->> 'source', 'POSTGRES') IS NOT NULL
                                        THEN jsonb_build_object(
                                            'source',
                                            omd.quote_table(l.item ->> 'source', 'POSTGRES')
                                        )
                                    ELSE '{}'
                                END
                                || CASE
                                    WHEN jsonb_typeof(l.item #> '{reject,on}') = 'array'
                                        THEN jsonb_build_object(
                                            'reject',
                                            (l.item -> 'reject') || jsonb_build_object('on', (
                                                SELECT coalesce(
                                                    jsonb_agg(DISTINCT o.item ORDER BY o.item), '[]'
                                                )
                                                FROM omd.json_items(
                                                    l.item #> '{reject,on}'
                                                ) AS o
                                            ))
                                        )
                                    ELSE '{}'
                                END
                        ELSE l.item
                    END
                    ORDER BY l.ordinal
                )
            FROM omd.json_items(v_stage -> 'links') AS l
        ));
    END IF;
    IF jsonb_typeof(v_stage -> 'outputs') = 'array' THEN
        v_stage := v_stage || jsonb_build_object('outputs', (
            SELECT
                jsonb_agg(
                    CASE
                        WHEN jsonb_typeof(o.item) = 'object'
                            THEN
                                jsonb_build_object('parameter', o.item -> 'name')
                                || o.item
                                || CASE
                                    WHEN omd.quote_table(o.item ->> 'table', 'POSTGRES') IS NOT NULL
                                        THEN jsonb_build_object(
                                            'table', omd.quote_table(o.item ->> 'table', 'POSTGRES')
                                        )
                                    ELSE '{}'
                                END
                        ELSE o.item
                    END
                    ORDER BY o.ordinal
                )
            FROM omd.json_items(v_stage -> 'outputs') AS o
        ));
    END IF;
    RETURN v_stage;
END
$with_defaults$;

COMMENT ON FUNCTION omd_decision._with_defaults IS
'Returns the stage document p_stage with its defaults and in one spelling. What is wrong in it '
'stays as it is. Locks: none.';
