-- Who mistypes a code learns which one is nearly so: the share of the pairs of letters that both
-- have. A list is read only for an error.

CREATE OR REPLACE FUNCTION omd.did_you_mean(
    p_given text,
    p_known text[]
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT n.known
    FROM (
        SELECT
            k.known,
            (
                SELECT 2.0 * count(*) FILTER (WHERE p.sides = 2) / sum(p.sides)
                FROM (
                    SELECT
                        s.pair,
                        count(*) AS sides
                    FROM (
                        (
                            SELECT DISTINCT substr(lower(' ' || p_given || ' '), i.i, 2) AS pair
                            FROM generate_series(1, length(p_given) + 1) AS i (i)
                        )
                        UNION ALL
                        (
                            SELECT DISTINCT substr(lower(' ' || k.known || ' '), i.i, 2) AS pair
                            FROM generate_series(1, length(k.known) + 1) AS i (i)
                        )
                    ) AS s
                    GROUP BY s.pair
                ) AS p
            ) AS likeness
        FROM unnest(p_known) AS k (known)
        WHERE
            length(k.known) BETWEEN length(p_given) - 3 AND length(p_given) + 3
            AND length(p_given) BETWEEN 2 AND 200
    ) AS n
    WHERE n.likeness >= 0.6
    ORDER BY n.likeness DESC, n.known ASC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.did_you_mean IS
'For rooms: Returns which of p_known is spelled nearly as p_given; NULL: none is. Locks: none.';
