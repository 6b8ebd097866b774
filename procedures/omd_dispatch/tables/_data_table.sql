-- The code of a family is upper case, and at most 30 characters long, so the name always fits.

CREATE OR REPLACE FUNCTION omd_dispatch._data_table(
    p_family_code text,
    p_suffix text DEFAULT ''
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT format('omd_dispatch.%I', 'task_data_' || lower(p_family_code) || p_suffix);
END;

COMMENT ON FUNCTION omd_dispatch._data_table IS
'Returns the qualified name of the table of tasks of p_family_code; p_suffix names a table beside '
'it: _p3 is a partition, _swap its spare partition. Locks: none.';
