-- Each current view has a function of its own, so that its statements are planned once per session.
-- The template shows it as it comes out: docs/explanation/facts-writer.md has a finished one. What
-- {for}, {if} and a name in braces do stands in _render; what the names stand for, in _writer_data.
-- The order of the checks is the contract (docs/explanation/facts.md, rule F7).

CREATE OR REPLACE FUNCTION omd_facts._writer_sql(
    p_entity_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_sql$
DECLARE
    v_template CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION {function}()
RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write$
-- An attribute may be called like a variable; columns are qualified.
#variable_conflict use_variable
DECLARE
    v_row {view}%ROWTYPE;
    v_anchor {anchor}%ROWTYPE;
    v_parent record;
    v_at timestamptz;
    v_audit_id bigint;
    v_id bigint;
    v_key jsonb;
    v_terms jsonb;
    v_former text;
    v_indicator text;
    v_null text;
    v_start timestamptz;
    v_count bigint;
    v_wrote boolean := FALSE;
    v_is_made boolean := FALSE;
    v_is_controlled boolean;
    {if keeps_slices}
    v_former_ind text;
    {end}
    {for contexts}
    {open} {now}%ROWTYPE;
    {end}
    {for parents}
    {parent_id} bigint;
    {end}
BEGIN
    IF TG_OP = 'DELETE' THEN
        v_row := OLD;
    ELSE
        v_row := NEW;
    END IF;
    v_key := jsonb_build_object({for keys ", "}{attribute}, v_row.{column}{end});

    -- Who writes, and at which time. The first write of a transaction takes the interface.
    SELECT
        i.traveling_now, i.writer_instance_id, i.writer_terms,
        i.made_entity_id IS NOT DISTINCT FROM {entity_id}
    INTO v_at, v_audit_id, v_terms, v_is_made
    FROM omd_facts.interface AS i
    WHERE i.interface_id = {interface_id}
        AND i.writer_transaction = pg_current_xact_id_if_assigned();
    IF NOT FOUND THEN
        v_is_made := FALSE;
        PERFORM omd_facts._hold({interface_id});
        SELECT i.traveling_now, i.writer_instance_id, i.writer_terms
        INTO v_at, v_audit_id, v_terms
        FROM omd_facts.interface AS i
        WHERE i.interface_id = {interface_id};
    END IF;
    PERFORM FROM omd_facts.entity_mark AS k
    WHERE k.entity_id = {entity_id} AND k.mark_datetime = v_at;
    IF NOT FOUND THEN
        PERFORM omd_facts._raise_mark({entity_id}, v_at);
    END IF;

    -- Controls complete the row before it is checked, or refuse it.
    PERFORM FROM omd_facts.control AS c WHERE c.entity_id = {entity_id} AND c.operation = TG_OP;
    v_is_controlled := FOUND;
    IF v_is_controlled AND TG_OP = 'DELETE' THEN
        PERFORM omd_facts._run_controls({entity_id}, TG_OP, 'BEFORE', to_jsonb(OLD), NULL);
    ELSIF v_is_controlled THEN
        v_row := jsonb_populate_record(
            v_row,
            omd_facts._run_controls(
                {entity_id}, TG_OP, 'BEFORE',
                CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(v_row)
            )
        );
        NEW := v_row;
        v_key := jsonb_build_object({for keys ", "}{attribute}, v_row.{column}{end});
    END IF;
    IF v_terms IS NOT NULL AND NOT v_is_made THEN
        PERFORM omd_facts._require_agreed(
            v_terms, {entity_id}, v_key,
            CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
            CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(v_row) END
        );
    END IF;

    -- Nobody gives or changes what OMD writes itself, and a row keeps its key.
    IF TG_OP = 'INSERT' THEN
        IF num_nonnulls({for system_columns ", "}NEW.{column}{end}) > 0 THEN
            PERFORM omd.raise_error(
                'OM058', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF ({for system_columns ", "}NEW.{column}{end})
            IS DISTINCT FROM ({for system_columns ", "}OLD.{column}{end})
        THEN
            PERFORM omd.raise_error(
                'OM058', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
        ELSIF ({for keys ", "}NEW.{column}{end})
            IS DISTINCT FROM ({for keys ", "}OLD.{column}{end})
        THEN
            PERFORM omd.raise_error(
                'OM052', jsonb_build_object('entity_code', {entity}, 'key', v_key)
            );
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        -- A supertype that its subtype makes has NULL where the subtype knows nothing.
        v_null := CASE
            {for required}
            WHEN v_row.{column} IS NULL{if is_attribute} AND NOT v_is_made{end} THEN {attribute}
            {end}
        END;
        IF v_null IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM053',
                jsonb_build_object('entity_code', {entity}, 'key', v_key, 'attribute', v_null)
            );
        END IF;
        {for refusals}
        IF {condition} AND v_row.{column} IS DISTINCT FROM OLD.{column} THEN
            PERFORM omd.raise_error(
                'OM061', jsonb_build_object(
                    'entity_code', {entity}, 'key', v_key, 'attribute', {attribute},
                    'value', left(v_row.{column}::text, 100), 'problem', {problem}
                )
            );
        END IF;
        {end}
    END IF;

    -- The row as it is now. An INSERT finds none; an UPDATE or a DELETE finds the row that its
    -- statement has read, or what this transaction has made of it since.
    SELECT a.* INTO v_anchor
    FROM {anchor} AS a
    WHERE {for anchor_keys " AND "}a.{anchor_key} = v_row.{column}{end};
    v_id := v_anchor.acm_id;
    {if has_anchor}
    IF TG_OP = 'INSERT' AND v_anchor.acm_exists_ind = 1 THEN
        PERFORM omd.raise_error(
            'OM051', jsonb_build_object('entity_code', {entity}, 'key', v_key)
        );
    ELSIF TG_OP <> 'INSERT'
        AND (v_anchor.acm_latest_start_dt, v_anchor.acm_exists_ind)
        IS DISTINCT FROM (OLD.acm_latest_start_dt, 1::smallint)
        AND (v_anchor.acm_latest_start_dt, v_anchor.acm_exists_ind)
        IS DISTINCT FROM (v_at, 1::smallint)
    THEN
        PERFORM omd.raise_error(
            'OM157', jsonb_build_object('entity_code', {entity}, 'key', v_key)
        );
    END IF;
    {else}
    SELECT o.acm_record_ind, o.acm_start_dt INTO v_former, v_start FROM {existence} AS o
    WHERE o.acm_id = v_id{for own_keys} AND o.{column} = v_row.{column}{end};
    {if keeps_slices}
    v_former_ind := v_former;
    {end}
    IF TG_OP = 'INSERT' AND v_former <> 'R' THEN
        PERFORM omd.raise_error(
            'OM051', jsonb_build_object('entity_code', {entity}, 'key', v_key)
        );
    ELSIF TG_OP <> 'INSERT' AND v_start IS DISTINCT FROM OLD.acm_start_dt
        AND v_start IS DISTINCT FROM v_at
    THEN
        PERFORM omd.raise_error(
            'OM157', jsonb_build_object('entity_code', {entity}, 'key', v_key)
        );
    END IF;
    IF TG_OP <> 'DELETE' AND coalesce(v_anchor.acm_exists_ind, 0) = 0 THEN
        PERFORM omd.raise_error(
            'OM054',
            jsonb_build_object('entity_code', {entity}, 'key', v_key, 'relationship', 'context_of')
        );
    END IF;
    {end}

    {if parents}
    -- The parent of a row exists, unless the row named it before and keeps it.
    {end}
    {for parents}
    IF TG_OP <> 'DELETE' AND num_nulls({for columns ", "}v_row.{column}{end}) = 0
        {if is_self}
        -- A row may be its own parent.
        AND NOT ({for columns " AND "}v_row.{column} IS NOT DISTINCT FROM v_row.{own_key}{end})
        {end}
    THEN
        SELECT p.acm_id, p.acm_exists_ind INTO v_parent FROM {parent} AS p
        WHERE {for columns " AND "}p.{parent_key} = v_row.{column}{end};
        IF NOT FOUND OR (
            v_parent.acm_exists_ind = 0 AND (TG_OP = 'INSERT'
                OR ({for columns ", "}v_row.{column}{end})
                IS DISTINCT FROM ({for columns ", "}OLD.{column}{end}))
        ) THEN
            {if is_supertype}
            -- Its view makes it, and gets to know so.
            UPDATE omd_facts.interface AS i SET made_entity_id = {parent_entity_id}
            WHERE i.interface_id = {interface_id};
            INSERT INTO {parent_view} ({for columns ", "}{parent_key}{end})
            VALUES ({for columns ", "}v_row.{column}{end});
            UPDATE omd_facts.interface AS i SET made_entity_id = NULL
            WHERE i.interface_id = {interface_id};
            SELECT p.acm_id, p.acm_exists_ind INTO v_parent FROM {parent} AS p
            WHERE {for columns " AND "}p.{parent_key} = v_row.{column}{end};
            {else}
            PERFORM omd.raise_error(
                'OM054',
                jsonb_build_object(
                    'entity_code', {entity}, 'key', v_key, 'relationship', {relationship}
                )
            );
            {end}
        END IF;
        {parent_id} := v_parent.acm_id;
    END IF;
    {end}

    IF TG_OP = 'DELETE' THEN
        {if children}
        -- A row with children is not deleted, unless it is its only child.
        {end}
        {for children}
        PERFORM FROM {child_table} AS c
        WHERE c.{child_link} = v_id
            AND {if is_in_context}c.acm_record_ind <> 'R'{else}c.acm_exists_ind = 1{end}{if is_self}
            AND c.acm_id <> v_id{end};
        IF FOUND THEN
            PERFORM omd.raise_error(
                'OM055', jsonb_build_object('entity_code', {entity}, 'key', v_key, 'child', {child})
            );
        END IF;
        {end}
        IF omd_facts._deletes_physically({interface_id}) THEN
            {if notes_erased}
            PERFORM omd_facts._note_erased({entity_id}, v_id, TRUE);
            {end}
            {if keeps_slices}
            PERFORM omd_facts._note_slice(
                {interface_id}, {entity_id}, v_id,
                jsonb_build_object({for own_keys ", "}{attribute}, v_row.{column}{end}), TRUE, FALSE
            );
            {end}
            {for contexts}
            DELETE FROM {context} AS o
            WHERE o.acm_id = v_id{for own_keys} AND o.{column} = v_row.{column}{end};
            GET DIAGNOSTICS v_count = ROW_COUNT;
            PERFORM omd_facts._log_removal(
                {interface_id}, {context_entity_id}, 'CONTEXT', {context_name}, v_count
            );
            {end}
            {if keeps_slices}
            PERFORM omd_facts._note_key(
                {interface_id}, {entity_id}, v_id, TRUE,
                EXISTS (SELECT FROM {existence} AS o WHERE o.acm_id = v_id AND o.acm_record_ind <> 'R')
            );
            {end}
            {if contexts_beside}
            -- All rows of its contexts go with it.
            {end}
            {for contexts_beside}
            DELETE FROM {context} AS o WHERE o.acm_id = v_id;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            PERFORM omd_facts._log_removal(
                {interface_id}, {context_entity_id}, 'CONTEXT', {context_name}, v_count
            ) WHERE v_count > 0;
            {end}
            {if has_anchor}
            -- The anchor keeps the key.
            UPDATE {anchor} AS a SET acm_exists_ind = 0, acm_physically_removed_ind = 1,
                acm_physically_removed_by = v_audit_id WHERE a.acm_id = v_id;
            PERFORM omd_facts._log_removal({interface_id}, {entity_id}, 'ANCHOR', {anchor_name}, 1);
            {end}
            IF v_is_controlled THEN
                PERFORM omd_facts._run_controls({entity_id}, TG_OP, 'AFTER', to_jsonb(OLD), NULL);
            END IF;
            RETURN OLD;
        END IF;
        {for contexts}
        {if is_deletable}
        SELECT o.* INTO {open} FROM {now} AS o
        WHERE o.acm_id = v_id{for own_keys} AND o.{column} = v_row.{column}{end}
            AND o.acm_record_ind <> 'R';
        IF FOUND THEN
            IF {open}.acm_start_dt < v_at THEN
                INSERT INTO {past} (acm_id{for own_keys}, {column}{end}, acm_start_dt, acm_end_dt,
                    acm_record_ind, acm_audit_id,
                    acm_entity_id{for attributes}, {column}{end}{for links}, {link}{end})
                VALUES (v_id{for own_keys}, v_row.{column}{end}, {open}.acm_start_dt, v_at,
                    {open}.acm_record_ind, {open}.acm_audit_id,
                    {open}.acm_entity_id{for attributes},
                    {open}.{column}{end}{for links},
                    {open}.{link}{end});
            END IF;
            UPDATE {now} AS o SET acm_start_dt = v_at, acm_record_ind = 'R',
                acm_audit_id = v_audit_id
            WHERE o.acm_id = v_id{for own_keys} AND o.{column} = v_row.{column}{end};
            v_wrote := TRUE;
        END IF;
        {end}
        {end}
        {if has_anchor}
        -- If the key began in this very transaction, it has begun when it did before, or never.
        UPDATE {anchor} AS a SET acm_exists_ind = 0, acm_latest_start_dt = v_at,
            acm_last_created_dt = CASE a.acm_last_created_dt
                WHEN v_at THEN (SELECT max(o.acm_start_dt) FROM {existence_history} AS o
                    WHERE o.acm_id = v_id AND o.acm_record_ind = 'N')
                ELSE a.acm_last_created_dt END
        WHERE a.acm_id = v_id;
        {else}
        UPDATE {anchor} AS a SET acm_latest_start_dt = v_at WHERE a.acm_id = v_id;
        {end}
        {if keeps_keys}
        PERFORM omd_facts._note_key({interface_id}, {entity_id}, v_id, TRUE, FALSE);
        {end}
        {if keeps_slices}
        PERFORM omd_facts._note_slice(
            {interface_id}, {entity_id}, v_id,
            jsonb_build_object({for own_keys ", "}{attribute}, v_row.{column}{end}), TRUE, FALSE
        );
        PERFORM omd_facts._note_key(
            {interface_id}, {entity_id}, v_id, TRUE,
            EXISTS (SELECT FROM {existence} AS o WHERE o.acm_id = v_id AND o.acm_record_ind <> 'R')
        );
        {end}
        IF v_is_controlled THEN
            PERFORM omd_facts._run_controls({entity_id}, TG_OP, 'AFTER', to_jsonb(OLD), NULL);
        END IF;
        RETURN OLD;
    END IF;

    {for contexts}
    {if is_immutable}
    -- What is immutable is written once. Who inserts a deleted key again need not know what was
    -- said first.
    SELECT o.* INTO {open} FROM {now} AS o WHERE o.acm_id = v_id;
    IF FOUND AND TG_OP = 'INSERT'
        AND num_nonnulls({for attributes ", "}v_row.{column}{end}) = 0
    THEN
        {for attributes}
        v_row.{column} := {open}.{column};
        {end}
    ELSIF FOUND AND ({for attributes ", "}v_row.{column}{end})
        IS DISTINCT FROM ({for attributes ", "}{open}.{column}{end})
    THEN
        PERFORM omd.raise_error(
            'OM056',
            jsonb_build_object('entity_code', {entity}, 'key', v_key, 'context', {context_code})
        );
    END IF;
    {end}
    {end}
    {for contexts}
    {if is_alternate_key}
    -- No other row has the values of an alternate key.
    PERFORM FROM {now} AS o
    WHERE {for attributes " AND "}o.{column} = v_row.{column}{end}
        AND o.acm_record_ind <> 'R' AND o.acm_id IS DISTINCT FROM v_id;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM057',
            jsonb_build_object('entity_code', {entity}, 'key', v_key, 'context', {context_code})
        );
    END IF;
    {end}
    {end}

    {if has_anchor}
    -- A key that was never named gets an anchor, as in a load.
    IF v_id IS NULL THEN
        {if root}
        INSERT INTO {root} ({root_columns}) SELECT {root_values} FROM (SELECT v_row.*) AS d
        ON CONFLICT DO NOTHING;
        {end}
        INSERT INTO {anchor} AS a ({anchor_columns}, acm_audit_id, acm_entity_id, acm_exists_ind,
            acm_physically_removed_ind)
        SELECT {anchor_values}, v_audit_id, {entity_id}, 0, 0
        FROM (SELECT v_row.*) AS d{anchor_joins}
        RETURNING a.acm_id INTO v_id;
        {if members}
        INSERT INTO {members} (member_entity_id, member_id) VALUES ({entity_id}, v_id);
        {end}
    END IF;
    {end}
    {for parents}
    {if is_self}
    IF ({for columns " AND "}v_row.{column} IS NOT DISTINCT FROM v_row.{own_key}{end}) THEN
        {parent_id} := v_id;
    END IF;
    {end}
    {end}

    -- Each context gets a row, or a change of its open one. Writes of one transaction to a row
    -- become one: a row that began at its time is changed where it is.
    {for contexts}
    SELECT o.* INTO {open} FROM {now} AS o
    WHERE o.acm_id = v_id{for own_keys} AND o.{column} = v_row.{column}{end};
    {if is_optional}
    IF NOT FOUND AND num_nonnulls({for attributes ", "}v_row.{column}{end}) > 0 THEN
    {else}
    IF NOT FOUND THEN
    {end}
        v_indicator := 'N';
        INSERT INTO {now} (acm_id{for own_keys}, {column}{end}, acm_start_dt, acm_end_dt,
            acm_record_ind, acm_audit_id,
            acm_entity_id{for attributes}, {column}{end}{for links}, {link}{end})
        VALUES (v_id{for own_keys}, v_row.{column}{end}, v_at, {open_end}, v_indicator, v_audit_id,
            {entity_id}{for attributes}, v_row.{column}{end}{for links}, {parent_id}{end});
        v_wrote := TRUE;
        {if is_existence}
        v_row.acm_start_dt := v_at;
        v_row.acm_record_ind := v_indicator;
        v_row.acm_audit_id := v_audit_id;
        {end}
    ELSIF FOUND AND (
        {open}.acm_record_ind = 'R'
        {if compared}
        OR ({for compared ", "}v_row.{column}{end})
        IS DISTINCT FROM ({for compared ", "}{open}.{column}{end})
        {end}
    ) THEN
        v_indicator := CASE {open}.acm_record_ind WHEN 'R' THEN 'N' ELSE 'A' END;
        IF {open}.acm_start_dt < v_at THEN
            INSERT INTO {past} (acm_id{for own_keys}, {column}{end}, acm_start_dt, acm_end_dt,
                acm_record_ind, acm_audit_id,
                acm_entity_id{for attributes}, {column}{end}{for links}, {link}{end})
            VALUES (v_id{for own_keys}, v_row.{column}{end}, {open}.acm_start_dt, v_at,
                {open}.acm_record_ind, {open}.acm_audit_id,
                {open}.acm_entity_id{for attributes},
                {open}.{column}{end}{for links},
                {open}.{link}{end});
        ELSE
            SELECT x.acm_record_ind INTO v_former FROM {past} AS x
            WHERE x.acm_id = v_id{for own_keys} AND x.{column} = v_row.{column}{end}
                AND x.acm_end_dt = v_at;
            v_indicator := CASE WHEN FOUND AND v_former <> 'R' THEN 'A' ELSE 'N' END;
        END IF;
        UPDATE {now} AS o SET acm_start_dt = v_at, acm_record_ind = v_indicator,
            acm_audit_id = v_audit_id, acm_entity_id = {entity_id}{for attributes},
            {column} = v_row.{column}{end}{for links},
            {link} = {parent_id}{end}
        WHERE o.acm_id = v_id{for own_keys} AND o.{column} = v_row.{column}{end};
        v_wrote := TRUE;
        {if is_existence}
        v_row.acm_start_dt := v_at;
        v_row.acm_record_ind := v_indicator;
        v_row.acm_audit_id := v_audit_id;
        {end}
    END IF;
    {end}

    -- RETURNING has what the view would show.
    v_row.acm_id := v_id;
    v_row.acm_end_dt := {open_end};
    {for parents}
    v_row.{link} := {parent_id};
    {end}
    {if has_anchor}
    IF v_wrote OR TG_OP = 'INSERT' THEN
        UPDATE {anchor} AS a SET acm_exists_ind = 1, acm_latest_start_dt = v_at,
            acm_last_created_dt = CASE
                WHEN a.acm_exists_ind = 0 AND v_row.acm_record_ind = 'N' THEN v_at
                ELSE a.acm_last_created_dt END,
            acm_physically_removed_ind = 0, acm_physically_removed_by = NULL
        WHERE a.acm_id = v_id
        RETURNING a.acm_exists_ind, a.acm_latest_start_dt, a.acm_last_created_dt
        INTO v_row.acm_exists_ind, v_row.acm_latest_start_dt, v_row.acm_last_created_dt;
        {if keeps_keys}
        PERFORM omd_facts._note_key(
            {interface_id}, {entity_id}, v_id, coalesce(v_anchor.acm_exists_ind, 0) = 1, TRUE
        );
        {end}
    END IF;
    {else}
    IF v_wrote THEN
        {if keeps_slices}
        PERFORM omd_facts._note_slice(
            {interface_id}, {entity_id}, v_id,
            jsonb_build_object({for own_keys ", "}{attribute}, v_row.{column}{end}),
            coalesce(v_former_ind, 'R') <> 'R', TRUE
        );
        PERFORM omd_facts._note_key(
            {interface_id}, {entity_id}, v_id,
            coalesce(v_former_ind, 'R') <> 'R' OR EXISTS (
                SELECT FROM {existence} AS o
                WHERE o.acm_id = v_id AND o.acm_record_ind <> 'R' AND o.acm_start_dt < v_at
            ),
            TRUE
        );
        {end}
        UPDATE {anchor} AS a SET acm_latest_start_dt = v_at WHERE a.acm_id = v_id
        RETURNING a.acm_exists_ind, a.acm_latest_start_dt, a.acm_last_created_dt
        INTO v_row.acm_exists_ind, v_row.acm_latest_start_dt, v_row.acm_last_created_dt;
    END IF;
    {end}
    IF v_is_controlled THEN
        PERFORM omd_facts._run_controls(
            {entity_id}, TG_OP, 'AFTER', CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END,
            to_jsonb(v_row)
        );
    END IF;
    RETURN v_row;
END
$write$$sql$;
BEGIN
    RETURN omd._render(v_template, omd_facts._writer_data(p_entity_id));
END
$writer_sql$;

COMMENT ON FUNCTION omd_facts._writer_sql IS
'Returns the function by which the current view of the entity p_entity_id is written. Locks: '
'none.';
