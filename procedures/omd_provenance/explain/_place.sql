-- Each room says how rows of its own tables are read. What a person names is looked for in the
-- facts first, then in the Logical Validation Layer, last among the targets of Modules.

CREATE OR REPLACE FUNCTION omd_provenance._place(
    p_table_code text,
    p_key jsonb,
    p_column text,
    p_at timestamptz,
    OUT place_kind text,
    OUT relation text,
    OUT interface_code text,
    OUT entity_code text,
    OUT context_code text,
    OUT finder text,
    OUT chain text,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $place$
BEGIN
    SELECT 'FACTS', f.* INTO place_kind, relation, interface_code, entity_code, context_code,
        finder, chain, problem
    FROM omd_facts.explained_facts(p_table_code, p_key, p_column, p_at) AS f
    WHERE f.relation IS NOT NULL;
    IF NOT FOUND THEN
        SELECT 'LVL', d.relation, d.interface_code, d.entity_code, d.finder, d.chain, d.problem
        INTO place_kind, relation, interface_code, entity_code, finder, chain, problem
        FROM omd_delivery.explained_rows(p_table_code, p_key, p_column, p_at) AS d
        WHERE d.relation IS NOT NULL;
    END IF;
    IF NOT FOUND THEN
        SELECT 'TABLE', m.relation, m.chain, m.problem
        INTO place_kind, relation, chain, problem
        FROM omd.explained_target(p_table_code, p_key, p_column) AS m
        WHERE m.relation IS NOT NULL;
    END IF;
    IF NOT FOUND THEN
        problem := 'it is no offered view of facts, no table of the Logical Validation Layer and '
            'no target of a Module in this database';
    END IF;
END
$place$;

COMMENT ON FUNCTION omd_provenance._place IS
'Returns what p_table_code is (place_kind FACTS, LVL or TABLE) and how its row with the key p_key '
'is read, with the column p_column as value, as of p_at (NULL: now); problem says why it can''t '
'be. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._place TO omd_data_reader;
