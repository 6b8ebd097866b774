-- Values of one kind can be compared whatever their sizes are.

CREATE OR REPLACE FUNCTION omd_delivery._type_kind(
    p_data_type text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_data_type IN ('smallint', 'integer', 'bigint') THEN 'integer'
            WHEN p_data_type LIKE 'character varying%' THEN 'text'
            WHEN p_data_type LIKE 'numeric%' THEN 'numeric'
            WHEN p_data_type = 'timestamp without time zone' THEN 'timestamp'
            WHEN p_data_type = 'timestamp with time zone' THEN 'timestamptz'
            ELSE p_data_type
        END;
END;

COMMENT ON FUNCTION omd_delivery._type_kind IS
'Returns the kind of the type p_data_type: boolean, integer, numeric, double precision, text, '
'date, timestamp or timestamptz. Locks: none.';
