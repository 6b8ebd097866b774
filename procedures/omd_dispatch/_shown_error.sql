-- An error of a task is shown with its type before it, one of a source with its SQLSTATE; behind it
-- may stand values of rows. What OMD itself says of a task has neither.

CREATE OR REPLACE FUNCTION omd_dispatch._shown_error(
    p_error text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                p_error ~ '^its worker .* is gone$'
                OR p_error ~ '^(Batch|Module) Instance \d+ ended with [A-Z]$'
                THEN p_error
            ELSE
                omd.error_text(
                    substring(p_error FROM '^([0-9A-Z]{5}|[A-Za-z_][A-Za-z0-9_.]*): '),
                    CASE
                        WHEN omd.reads_rows() THEN p_error
                        ELSE regexp_replace(p_error, '^[0-9A-Z]{5}: ', '')
                    END
                )
        END;
END;

COMMENT ON FUNCTION omd_dispatch._shown_error IS
'Returns the error p_error of a task or of a source as the caller may see it: whole for who has '
'omd_data_reader, else as omd.shown_error returns it. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._shown_error FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._shown_error TO omd_reader;
