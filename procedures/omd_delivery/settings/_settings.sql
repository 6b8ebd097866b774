-- A field that an agreement sets replaces that field of the model alone. Where neither sets a
-- threshold, that of the type holds.

CREATE OR REPLACE FUNCTION omd_delivery._settings(
    p_interface_id integer,
    p_overrides jsonb
)
RETURNS TABLE (
    constraint_id integer,
    entity_id integer,
    constraint_code text,
    constraint_type text,
    stage integer,
    ordinal integer,
    action text,
    threshold bigint,
    threshold_percent numeric,
    has_threshold boolean,
    warn bigint,
    warn_percent numeric,
    is_enabled boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
BEGIN ATOMIC
    SELECT
        c.constraint_id,
        c.entity_id,
        c.constraint_code,
        c.constraint_type,
        c.stage,
        c.ordinal,
        coalesce(omd_delivery._action_code(s.setting ->> 'action'), t.default_action) AS action,
        nullif(
            coalesce(
                s.setting ->> 'threshold',
                CASE WHEN NOT s.setting ? 'threshold_percent' THEN t.default_threshold END
            ),
            'none'
        )::numeric::bigint AS threshold,
        (s.setting ->> 'threshold_percent')::numeric AS threshold_percent,
        s.setting ?| ARRAY['threshold', 'threshold_percent'] AS has_threshold,
        (s.setting ->> 'warn')::numeric::bigint AS warn,
        (s.setting ->> 'warn_percent')::numeric AS warn_percent,
        coalesce((s.setting ->> 'enabled')::boolean, TRUE) AS is_enabled
    FROM omd_delivery.model_constraint AS c
    INNER JOIN omd_delivery.entity AS e ON c.entity_id = e.entity_id
    INNER JOIN omd_delivery.constraint_type AS t ON c.constraint_type = t.constraint_type
    LEFT JOIN omd_delivery.constraint_setting AS m ON c.constraint_id = m.constraint_id
    CROSS JOIN
        LATERAL (
            SELECT
                coalesce(m.setting, '{}')
                || coalesce(p_overrides -> c.constraint_code, '{}') AS setting
        ) AS s
    WHERE e.interface_id = p_interface_id AND NOT c.is_retired;
END;

COMMENT ON FUNCTION omd_delivery._settings IS
'Returns the constraints of the interface p_interface_id with what is set for each: action (S, E, '
'N; NULL where it takes none), threshold and threshold_percent (NULL: none of this kind), '
'has_threshold (one was set; without one a threshold of NULL is the rule of deletes), warn, '
'warn_percent and is_enabled. p_overrides: the settings of an agreement; may be NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery._settings TO omd_reader;
