-- A search_path without the schemas of users finds no operator of an extension, and takes = of text
-- for citext.

CREATE OR REPLACE FUNCTION omd_lineage._equals_operator(
    p_type oid
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            (
                SELECT format('OPERATOR(%I.%s)', n.nspname, o.oprname)
                FROM pg_type AS t
                INNER JOIN pg_opclass AS c
                    ON
                        coalesce(nullif(t.typbasetype, 0), t.oid) = c.opcintype
                        AND c.opcdefault
                INNER JOIN pg_am AS m ON c.opcmethod = m.oid AND m.amname = 'btree'
                INNER JOIN pg_amop AS a
                    ON
                        c.opcfamily = a.amopfamily
                        AND c.opcintype = a.amoplefttype
                        AND c.opcintype = a.amoprighttype
                        AND a.amopstrategy = 3
                INNER JOIN pg_operator AS o ON a.amopopr = o.oid
                INNER JOIN pg_namespace AS n ON o.oprnamespace = n.oid
                WHERE t.oid = p_type
            ),
            'OPERATOR(pg_catalog.=)'
        );
END;

COMMENT ON FUNCTION omd_lineage._equals_operator IS
'Returns the operator by which two values of p_type are equal, qualified. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._equals_operator TO omd_runner, omd_admin;
