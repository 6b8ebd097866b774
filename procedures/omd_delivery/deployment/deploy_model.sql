-- The differences between two documents decide everything: whether there is a new version, what
-- would lose data, and what a dry run answers. The registry is brought to the document, then the
-- tables are brought to the registry.

CREATE OR REPLACE PROCEDURE omd_delivery.deploy_model(
    p_model jsonb,
    p_dry_run boolean DEFAULT FALSE,
    INOUT p_model_version integer DEFAULT NULL,
    INOUT p_changes jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $deploy_model$
DECLARE
    v_code CONSTANT text := omd_delivery._text(p_model, 'interface');
    v_interface omd_delivery.interface;
    v_problems jsonb;
    v_old jsonb;
BEGIN
    p_model := omd.require_argument('p_model', p_model);
    p_dry_run := omd.require_argument('p_dry_run', p_dry_run);
    PERFORM omd.require_read_committed();
    PERFORM omd.raise_error(
        'OM030',
        jsonb_build_object(
            'interface_code', left(v_code, 200),
            'path', d.path,
            'first', coalesce(nullif(d.path, ''), 'the document'),
            'problem', d.problem,
            'problem_count', 1,
            'problems', jsonb_build_array(to_jsonb(d))
        )
    )
    FROM omd.document_problem(p_model) AS d
    WHERE d.problem IS NOT NULL;
    SELECT
        jsonb_agg(
            jsonb_build_object('path', p.path, 'object', o.object, 'problem', p.problem)
            ORDER BY p.path COLLATE "C", p.problem COLLATE "C"
        )
    INTO v_problems
    FROM omd_delivery._model_problems(p_model) AS p
    CROSS JOIN LATERAL (
        SELECT
            string_agg(
                p_model #>> (m.m[1:2] || CASE WHEN l.is_part THEN m.m[3:4] END || '{name}'), '.'
                ORDER BY l.is_part
            ) AS object
        FROM regexp_matches(
            p.path, '^(entities)\[([0-9]+)\](?:\.([a-z_]+)\[([0-9]+)\])?'
        ) AS m (m)
        CROSS JOIN (VALUES (FALSE), (TRUE)) AS l (is_part)
        WHERE NOT l.is_part OR m.m[3] IS NOT NULL
    ) AS o;
    IF v_problems IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM030',
            jsonb_build_object(
                'interface_code', v_code,
                'path', v_problems -> 0 -> 'path',
                'first', concat(
                    v_problems -> 0 ->> 'path', ' (' || (v_problems -> 0 ->> 'object') || ')'
                ),
                'problem', v_problems -> 0 -> 'problem',
                'problem_count', jsonb_array_length(v_problems),
                'problems', v_problems
            )
        );
    END IF;
    PERFORM omd_delivery._require_settings(p_model, p_model -> 'settings');

    IF NOT p_dry_run THEN
        INSERT INTO omd_delivery.interface (interface_code, model_version) VALUES (v_code, 0)
        ON CONFLICT (interface_code) DO NOTHING;
    END IF;
    SELECT i.* INTO v_interface
    FROM omd_delivery.interface AS i
    WHERE i.interface_code = v_code
    FOR NO KEY UPDATE;
    IF v_interface.model_version > 0 THEN
        v_old := omd_delivery._model_document(v_interface.interface_id);
    END IF;
    SELECT
        coalesce(
            jsonb_agg(
                jsonb_build_object('object', c.object, 'change', c.change)
                ORDER BY c.place, c.property COLLATE "C"
            ),
            '[]'
        )
    INTO p_changes
    FROM omd_delivery._model_changes(v_old, p_model) AS c;
    p_model_version := coalesce(v_interface.model_version, 0) + (p_changes <> '[]')::integer;

    IF NOT p_dry_run THEN
        PERFORM omd_delivery._require_rest(v_interface.interface_id);
    END IF;
    IF v_old IS NOT NULL AND p_changes <> '[]' THEN
        PERFORM omd_delivery._require_no_loss(v_interface.interface_id, v_old, p_model);
        -- What an agreement overrides must stay possible; a constraint that has gone has no effect.
        PERFORM omd_delivery._require_settings(
            p_model,
            (
                SELECT jsonb_object_agg(s.key, s.value)
                FROM jsonb_each(a.settings) AS s
                INNER JOIN omd_delivery._model_constraints(p_model) AS c
                    ON s.key = c.constraint_code
            ),
            format('agreements.%s.settings', a.agreement_code)
        )
        FROM omd_delivery.agreement AS a
        WHERE a.interface_id = v_interface.interface_id AND a.settings <> '{}';
    END IF;
    IF NOT p_dry_run AND p_changes <> '[]' THEN
        UPDATE omd_delivery.interface AS i
        SET
            model_version = p_model_version,
            facts = p_model -> 'facts'
        WHERE i.interface_id = v_interface.interface_id;
        INSERT INTO omd_delivery.model_version (interface_id, model_version, changes)
        VALUES (v_interface.interface_id, p_model_version, p_changes);
        CALL omd_delivery._write_registry(v_interface.interface_id, p_model);
        CALL omd_delivery._make_interface(v_interface.interface_id);
        PERFORM omd_delivery._empty_hashes(v_interface.interface_id, v_old, p_model);
        PERFORM omd_delivery._equip_agreement(a.agreement_id)
        FROM omd_delivery.agreement AS a
        WHERE a.interface_id = v_interface.interface_id;
    END IF;
END
$deploy_model$;

COMMENT ON PROCEDURE omd_delivery.deploy_model IS
'Brings an interface to the model p_model: registry, tables, indexes and Modules. p_model: the '
'model document. p_dry_run: TRUE tells the changes, or the refusal, and makes none (FALSE). '
'Returns p_model_version, the version that holds then, and p_changes, a list of {"object", '
'"change"}; when it is empty nothing is done. Errors: OM005: p_model or p_dry_run is NULL; OM014: '
'the isolation level is not read committed; OM030: the document is wrong, larger than 10 MB or '
'nested more than 64 deep; its DETAIL lists every problem with its path; OM035: a setting names '
'no constraint; OM042: a setting is impossible, also one of an agreement; OM111: a Module '
'lvl.<interface>.<entity> exists already and has another target in use; OM136: a run of the '
'interface executes; OM230: rows would be lost or reinterpreted; OM231: current rows break an '
'alternate key; OM233: a schema of the interface belongs to somebody else; OM234: omd_owner may '
'not create one. Locks: the interface; its tables while they are changed. Call again when the '
'answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.deploy_model TO omd_admin;
