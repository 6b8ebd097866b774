-- A Module with SQL of its own is looked up once for each text, unless somebody has declared it.
-- Where the tables could not even be named, somebody else may name them.

CREATE OR REPLACE FUNCTION omd._needs_look(
    p_module_code text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        EXISTS(
            SELECT FROM omd.module AS m
            WHERE
                m.module_code = p_module_code
                AND m.module_kind_code = 'SQL'
                AND NOT EXISTS (
                    SELECT FROM omd.module_declaration AS d
                    WHERE
                        d.module_id = m.module_id
                        AND d.upto_id IS NULL
                        AND (
                            d.origin = 'HAND'
                            OR (
                                d.origin = 'CATALOGUE'
                                AND d.text_hash = md5(m.executable)
                                AND (
                                    d.proposed IS NOT NULL
                                    OR d.looked_datetime > clock_timestamp() - interval '1 minute'
                                )
                            )
                        )
                )
        );
END;

COMMENT ON FUNCTION omd._needs_look IS
'Answers whether nobody has looked up yet what the SQL of the Module p_module_code reads. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd._needs_look TO omd_runner, omd_admin;
