-- The declaration that held counts for the runs up to now, the new one for those after; a run that
-- executes at this moment counts under both, and so do the runs between two looks at the catalogue.
-- A begin of the Module waits meanwhile, so every later run gets a greater id.

CREATE OR REPLACE FUNCTION omd.save_inputs(
    p_module_id integer,
    p_origin text,
    p_inputs jsonb,
    p_replaces_all boolean DEFAULT FALSE,
    p_text_hash text DEFAULT NULL
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_inputs$
DECLARE
    v_old omd.module_declaration;
    v_bases jsonb;
    v_former jsonb;
    v_last bigint;
    v_after bigint;
    v_is_first boolean;
    v_declaration_id bigint;
BEGIN
    -- It is read before the look, so what changes behind the look counts from here on.
    v_last := coalesce(
        pg_sequence_last_value('omd.module_instance_module_instance_id_seq'), 0
    );
    SELECT d.* INTO v_old
    FROM omd.module_declaration AS d
    WHERE d.module_id = p_module_id AND d.origin = p_origin AND d.upto_id IS NULL;
    SELECT coalesce(jsonb_agg(b.item ORDER BY b.item), '[]') INTO v_bases
    FROM (
        SELECT DISTINCT
            jsonb_build_array(
                t.table_code, i.item ->> 'table', i.item ->> 'kind', i.item ->> 'pos',
                i.item ->> 'id'
            ) AS item
        FROM jsonb_array_elements(p_inputs) AS i (item)
        CROSS JOIN LATERAL unnest(omd._tables_of_input(i.item)) AS t (table_code)
    ) AS b;
    SELECT coalesce(jsonb_agg(b.item ORDER BY b.item), '[]') INTO v_former
    FROM (
        SELECT
            jsonb_build_array(
                i.table_code, i.declared_code, i.read_kind, i.pos_column, i.id_column
            ) AS item
        FROM omd.module_input AS i
        WHERE i.declaration_id = v_old.declaration_id
    ) AS b;
    IF v_old.declaration_id IS NOT NULL
        AND v_bases = v_former
        AND (p_inputs IS NULL) = (v_old.inputs IS NULL)
        AND p_replaces_all = v_old.replaces_all
    THEN
        UPDATE omd.module_declaration AS d SET
            inputs = p_inputs,
            looked_upto = v_last,
            looked_datetime = clock_timestamp(),
            text_hash = p_text_hash
        WHERE d.declaration_id = v_old.declaration_id;
        RETURN FALSE;
    END IF;
    PERFORM FROM omd.module AS m WHERE m.module_id = p_module_id FOR NO KEY UPDATE;
    SELECT d.* INTO v_old
    FROM omd.module_declaration AS d
    WHERE d.module_id = p_module_id AND d.origin = p_origin AND d.upto_id IS NULL;
    v_last := coalesce(
        pg_sequence_last_value('omd.module_instance_module_instance_id_seq'), 0
    );

    v_is_first := NOT EXISTS (
        SELECT FROM omd.module_declaration AS d
        WHERE d.module_id = p_module_id AND d.origin = p_origin
    );
    -- What a room knows of its Modules held before somebody wrote it down.
    v_after := CASE
        WHEN v_is_first AND p_origin = 'ROOM' THEN 0
        WHEN p_origin <> 'HAND' OR p_inputs = v_old.inputs
            THEN coalesce(v_old.looked_upto, v_last)
        ELSE v_last
    END;
    SELECT least(v_after, min(e.id) - 1) INTO v_after
    FROM omd._executing_module_instances(p_module_id, NULL) AS e (id);
    UPDATE omd.module_declaration AS d SET upto_id = v_last
    WHERE d.module_id = p_module_id
        AND d.upto_id IS NULL
        AND (d.origin = p_origin OR (d.origin = 'CATALOGUE' AND p_origin = 'HAND'));
    UPDATE omd.module_input AS i SET upto_id = v_last
    FROM omd.module_declaration AS d
    WHERE i.module_id = p_module_id
        AND i.upto_id IS NULL
        AND i.declaration_id = d.declaration_id
        AND d.upto_id IS NOT NULL;
    INSERT INTO omd.module_declaration (
        module_id, origin, inputs, replaces_all, after_id, looked_upto, looked_datetime, text_hash
    )
    VALUES (
        p_module_id, p_origin, p_inputs, p_replaces_all, v_after, v_last, clock_timestamp(),
        p_text_hash
    )
    RETURNING declaration_id INTO v_declaration_id;
    INSERT INTO omd.module_input (
        declaration_id, table_code, declared_code, read_kind, module_id, pos_column, id_column,
        after_id
    )
    SELECT
        v_declaration_id, b.item ->> 0, b.item ->> 1, b.item ->> 2, p_module_id, b.item ->> 3,
        b.item ->> 4, v_after
    FROM jsonb_array_elements(v_bases) AS b (item);
    RETURN TRUE;
END
$save_inputs$;

COMMENT ON FUNCTION omd.save_inputs IS
'For rooms: says what the runs of the Module p_module_id read from now on, and answers whether it '
'is something new. p_origin: ROOM, HAND or CATALOGUE. p_inputs: a list of objects with table '
'(table or view), kind (ALL, WINDOW, RUNS), pos and id (the columns that a window cuts); of a view '
'that reads a block also cut_table (the table), cut_by (the conditions that cut it) and cut_view '
'(the view that has only the block): of this table it reads only what it reads without them. NULL: '
'nobody knows. p_replaces_all: each run replaces what the former ones wrote. p_text_hash: of the '
'SQL that was looked up. Locks: the Module, where something is new.';
