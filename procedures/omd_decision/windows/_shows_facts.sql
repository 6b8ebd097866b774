-- A view over an offered view keeps the names of its columns, as a rule.

CREATE OR REPLACE FUNCTION omd_decision._shows_facts(
    p_source text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $shows_facts$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM omd.relations_under(omd.target_relation(p_source)) AS r
        INNER JOIN pg_class AS c ON r.relation_id = c.oid
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        INNER JOIN omd.source_position AS s
            ON s.table_code = format('%I.%I', n.nspname, c.relname)
        WHERE s.source_kind_code = 'FACTS'
    );
END
$shows_facts$;

COMMENT ON FUNCTION omd_decision._shows_facts IS
'Returns whether the table or view p_source is an offered view of facts, or is over one. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_decision._shows_facts TO omd_reader;
