-- A row that was updated says so in another column, and several Modules may load one table.

CREATE OR REPLACE FUNCTION omd.stamp_columns(
    p_table_code text
)
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(s.name ORDER BY s.place, s.name), '{}')
    FROM (
        SELECT
            c.name,
            min(c.place) AS place
        FROM omd.module AS m
        CROSS JOIN
            LATERAL (
                VALUES (1, m.update_instance_column), (2, m.insert_instance_column)
            ) AS c (place, name)
        WHERE
            omd.quote_table(m.table_code, 'POSTGRES') = omd.quote_table(p_table_code, 'POSTGRES')
        GROUP BY c.name
    ) AS s;
END;

COMMENT ON FUNCTION omd.stamp_columns IS
'For rooms: Returns the columns of the table p_table_code that name the run which wrote a row: '
'first those of updates, then those of insertions, of all Modules that load it; none where none '
'does. Locks: none.';
