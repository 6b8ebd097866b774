-- A view that reads a block names its table beside itself: what it reads of that table is recorded
-- with the window, and here only where it is read once more, and whole.

CREATE OR REPLACE FUNCTION omd._tables_of_input(
    p_input jsonb
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $tables_of_input$
DECLARE
    v_tables text[] := omd.base_tables(p_input ->> 'table');
    v_cut_tables text[];
    v_cut_by oid[];
BEGIN
    IF NOT p_input ? 'cut_table' THEN
        RETURN v_tables;
    END IF;
    v_cut_tables := omd.base_tables(p_input ->> 'cut_table');
    IF NOT v_tables && v_cut_tables THEN
        RETURN v_tables;
    END IF;
    v_cut_by := ARRAY(
        SELECT p.oid
        FROM jsonb_array_elements_text(p_input -> 'cut_by') AS c (name)
        INNER JOIN pg_namespace AS n ON split_part(c.name, '.', 1) = n.nspname
        INNER JOIN pg_proc AS p ON n.oid = p.pronamespace AND split_part(c.name, '.', 2) = p.proname
    );
    IF omd._uncut_reads(
        'pg_class'::regclass,
        omd.target_relation(p_input ->> 'table'),
        v_cut_tables,
        omd.target_relation(p_input ->> 'cut_table'),
        omd.target_relation(p_input ->> 'cut_view'),
        v_cut_by
    ) > 0 THEN
        RETURN v_tables;
    END IF;
    RETURN ARRAY(
        SELECT t.table_code FROM unnest(v_tables) AS t (table_code)
        WHERE t.table_code <> ALL(v_cut_tables)
    );
END
$tables_of_input$;

COMMENT ON FUNCTION omd._tables_of_input IS
'Returns the tables for which the input p_input of omd.save_inputs stands. Locks: none.';
