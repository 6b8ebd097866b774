-- This is the list of types of attributes. Numbers have a precision, since Spark's have one.

CREATE OR REPLACE FUNCTION omd_delivery._data_type(
    p_type text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN t.name IN (
                'boolean', 'smallint', 'integer', 'bigint', 'double precision', 'text', 'date',
                'timestamp without time zone', 'timestamp with time zone'
            ) THEN t.name
            WHEN t.name = 'timestamp' THEN 'timestamp without time zone'
            WHEN t.name = 'timestamptz' THEN 'timestamp with time zone'
            WHEN
                n.size IS NOT NULL AND n.size[2]::integer <= n.size[1]::integer
                AND n.size[1]::integer BETWEEN 1 AND 38
                THEN format('numeric(%s,%s)', n.size[1]::integer, n.size[2]::integer)
            WHEN v.size[2]::integer BETWEEN 1 AND 10485760
                THEN format('character varying(%s)', v.size[2]::integer)
        END
    FROM (
        SELECT
            regexp_replace(
                regexp_replace(
                    btrim(lower(p_type COLLATE "C"), E' \t\n'), '[[:space:]]*([(),])[[:space:]]*',
                    '\1', 'g'
                ),
                '[[:space:]]+', ' ', 'g'
            ) AS name
    ) AS t
    CROSS JOIN
        LATERAL (
            SELECT regexp_match(t.name, '^numeric\(([0-9]{1,4}),([0-9]{1,4})\)$') AS size
        ) AS n
    CROSS JOIN LATERAL (
        SELECT regexp_match(t.name, '^(text|character varying)\(([0-9]{1,8})\)$') AS size
    ) AS v;
END;

COMMENT ON FUNCTION omd_delivery._data_type IS
'Returns the type of an attribute that the model writes as p_type, as format_type prints it; NULL '
'where the model may not have it. Locks: none.';
