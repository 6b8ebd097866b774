-- An error of a task is shown by its class; behind it may stand values of rows. What OMD itself
-- says of a task has neither.

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
                omd.reads_rows()
                OR p_error ~ '^its worker .* is gone$'
                OR p_error ~ '^(Batch|Module) Instance \d+ ended with [A-Z]$'
                THEN p_error
            WHEN p_error IS NOT NULL
                THEN 'error ' || coalesce(omd_dispatch._class_of_error(p_error), 'without a code')
        END;
END;

COMMENT ON FUNCTION omd_dispatch._shown_error IS
'Returns the error p_error of a task as the caller may see it: whole for who has omd_data_reader, '
'else its class, where a driver has reported one. Locks: none.';
