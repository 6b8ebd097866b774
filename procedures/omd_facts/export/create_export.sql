-- An entity is exported as of a moment that it has reached, and up to there it never changes. So a
-- run that is repeated finds the same rows, however much was loaded meanwhile.

CREATE OR REPLACE PROCEDURE omd_facts.create_export(
    p_agreement_code text,
    p_target_uri text,
    p_entities text[] DEFAULT NULL,
    p_mode text DEFAULT 'FULL',
    p_as_of timestamptz DEFAULT NULL,
    p_options jsonb DEFAULT NULL,
    INOUT p_delivery_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_export$
DECLARE
    v_interface record;
    v_agreed record;
    v_entity_ids integer[];
    v_unknown text;
BEGIN
    PERFORM omd.require_read_committed();
    p_delivery_id := omd_delivery.insert_delivery(p_agreement_code, 'EXPORT');
    -- What is undone while this runs must not be missed, so the newest load is read before the
    -- marks.
    SELECT
        i.*,
        (
            SELECT max(greatest(l.module_instance_id, l.undone_by))
            FROM omd_facts.load_log AS l
            WHERE l.interface_id = i.interface_id
        ) AS newest_instance_id
    INTO v_interface
    FROM omd_delivery.delivery_head(p_delivery_id) AS d
    INNER JOIN omd_facts.interface AS i ON d.interface_id = i.interface_id;
    IF NOT FOUND THEN
        PERFORM omd_facts._raise_not_deployed(d.interface_code)
        FROM omd_delivery.delivery_head(p_delivery_id) AS d;
    ELSIF v_interface.traveling_now IS NULL THEN
        PERFORM omd_facts._raise_export(
            'p_agreement_code', p_agreement_code, 'nothing of its interface is persisted'
        );
    ELSIF p_as_of > v_interface.traveling_now OR p_as_of < '0001-01-01 00:00:00+00' THEN
        PERFORM omd_facts._raise_export(
            'p_as_of', p_as_of::text,
            format('it must be from the year 1 to the traveling now, %s', v_interface.traveling_now)
        );
    ELSIF p_mode IS NULL OR p_mode NOT IN ('FULL', 'CHANGES') THEN
        PERFORM omd_facts._raise_export('p_mode', p_mode, 'it is FULL or CHANGES');
    ELSIF p_target_uri IS NULL OR p_target_uri !~ '\S' THEN
        PERFORM omd_facts._raise_export('p_target_uri', p_target_uri, 'it must name a folder');
    END IF;
    SELECT t.entity_ids, t.options INTO v_agreed
    FROM omd_delivery.delivery_terms(p_delivery_id) AS t;
    SELECT array_agg(e.entity_id) INTO v_entity_ids
    FROM omd_facts.entity AS e
    WHERE e.interface_id = v_interface.interface_id
        AND (v_agreed.entity_ids IS NULL OR e.entity_id = ANY(v_agreed.entity_ids))
        AND (p_entities IS NULL OR e.entity_code = ANY(p_entities));
    SELECT coalesce(n.code, 'NULL') INTO v_unknown
    FROM unnest(p_entities) AS n (code)
    LEFT JOIN omd_facts.entity AS e ON n.code = e.entity_code AND e.entity_id = ANY(v_entity_ids)
    WHERE e.entity_id IS NULL
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_facts._raise_export(
            'p_entities', v_unknown, 'the agreement has no such entity'
        );
    ELSIF v_entity_ids IS NULL THEN
        PERFORM omd_facts._raise_export('p_entities', p_entities::text, 'it must name an entity');
    END IF;
    INSERT INTO omd_facts.export (
        delivery_id, interface_id, agreement_code, target_uri, export_mode, as_of, options,
        newest_instance_id
    )
    VALUES (
        p_delivery_id,
        v_interface.interface_id,
        p_agreement_code,
        p_target_uri,
        p_mode,
        coalesce(p_as_of, v_interface.traveling_now),
        omd_facts._export_options(p_options, v_agreed.options),
        v_interface.newest_instance_id
    );
    INSERT INTO omd_facts.export_entity (delivery_id, entity_id, as_of)
    SELECT
        p_delivery_id,
        e.id,
        CASE
            WHEN k.entity_id IS NOT NULL
                THEN least(coalesce(p_as_of, v_interface.traveling_now), k.mark_datetime)
        END
    FROM unnest(v_entity_ids) AS e (id)
    LEFT JOIN omd_facts.entity_mark AS k ON e.id = k.entity_id;
    -- Who takes facts back keeps it from beginning meanwhile.
    PERFORM omd.note_reads(m.module_id, omd_facts._exported_tables(p_delivery_id))
    FROM omd.module_target AS m
    WHERE m.module_code = 'export.' || p_agreement_code;
END
$create_export$;

COMMENT ON PROCEDURE omd_facts.create_export IS
'Orders an export of facts under the EXPORT agreement p_agreement_code, and fixes its moment, so '
'that a run that is repeated finds the same rows. p_target_uri: the folder under which the files '
'go. p_entities: the entities; NULL: all of the agreement. p_mode: FULL, all rows, or CHANGES, the'
' net changes since the newest export of the agreement. p_as_of: the moment, NULL: the traveling '
'now, which is the latest. p_options: max_concurrent_entities, partitions and compression '
'(uncompressed, snappy, gzip, lz4 or zstd). Returns p_delivery_id. Errors: OM005, OM013, OM014, '
'OM033, OM036: the agreement is of another layer, OM060: an argument is refused, or nothing is '
'persisted, OM232, OM251: the interface is not deployed. Locks: the agreement FOR KEY SHARE.';
GRANT EXECUTE ON PROCEDURE omd_facts.create_export TO omd_runner;
