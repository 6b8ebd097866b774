-- Java tries one way after the other: ((a|a)*)*b needs more than 2^30 steps for 30 letters, and
-- nobody can stop it there. Where the next character tells the way, there is one to try. So within
-- what is repeated it must tell; elsewhere a few choices are bearable, such as that of .*x: each
-- costs at most the length of the value once more. This is Glushkov's automaton: the characters of
-- the pattern are its places, and an edge leads to each that may be next. Two edges of one place
-- are a choice where a character fits both; equal edges are one, too: one of (a+)* stays within,
-- one begins again.

CREATE OR REPLACE FUNCTION omd_delivery._pattern_backtracks(
    p_pattern text
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $pattern_backtracks$
DECLARE
    v_most_edges CONSTANT integer := 5000;
    v_most_choices CONSTANT integer := 4;
    v_empty CONSTANT jsonb := '{"nullable": true, "first": [], "last": []}'::jsonb;
    v_piece text;
    v_places text[] := '{}'::text[];
    v_from integer[] := '{}'::integer[];
    v_to integer[] := '{}'::integer[];
    v_loops int4range[] := '{}'::int4range[];
    -- The open groups; of the last one what ended alternatives are, the sequence, and its last part.
    v_open jsonb[] := '{}'::jsonb[];
    v_ended jsonb;
    v_sequence jsonb := v_empty;
    v_part jsonb := v_empty;
    v_begins integer := 1;
    v_is_single boolean := FALSE;
    v_least integer;
    v_most integer;
BEGIN
    FOR v_piece IN
        SELECT t.m[1]
        FROM regexp_matches(
            '(' || p_pattern || ')',
            '(\\.|\[\^?(?:\\.|[^]\\])*\]|\(\?:|\{[0-9]+(?:,[0-9]*)?\}\??|[*+?]\??|.)', 'g'
        ) WITH ORDINALITY AS t (m, n)
        ORDER BY t.n
    LOOP
        IF v_piece ~ '^([*+?]|\{)' THEN
            v_piece := CASE left(v_piece, 1)
                WHEN '*' THEN '{0,}' WHEN '+' THEN '{1,}' WHEN '?' THEN '{0,1}' ELSE v_piece
            END;
            v_least := substring(v_piece FROM '[0-9]+')::integer;
            v_most := CASE
                WHEN v_piece ~ ',' THEN substring(v_piece FROM ',([0-9]+)')::integer ELSE v_least
            END;
            IF v_most > 1 AND (v_part -> 'nullable')::boolean THEN
                RETURN TRUE;  -- which times are empty is a choice each
            ELSIF v_most IS DISTINCT FROM v_least OR NOT v_is_single THEN
                IF v_most IS NULL OR v_most > 1 THEN
                    v_from := v_from || ARRAY(
                        SELECT l::integer
                        FROM jsonb_array_elements(v_part -> 'last') AS l,
                            jsonb_array_elements(v_part -> 'first')
                        ORDER BY 1
                    );
                    v_to := v_to || ARRAY(
                        SELECT f::integer
                        FROM jsonb_array_elements(v_part -> 'last') AS l,
                            jsonb_array_elements(v_part -> 'first') AS f
                        ORDER BY l::integer
                    );
                    v_loops := v_loops || int4range(v_begins, cardinality(v_places), '[]');
                END IF;
                v_is_single := FALSE;
            END IF;
            IF v_least = 0 THEN
                v_part := v_part || '{"nullable": true}';
            END IF;
            CONTINUE;
        END IF;
        -- The last part has its repetition now, and goes to its sequence.
        v_from := v_from || ARRAY(
            SELECT l::integer
            FROM jsonb_array_elements(v_sequence -> 'last') AS l,
                jsonb_array_elements(v_part -> 'first')
            ORDER BY 1
        );
        v_to := v_to || ARRAY(
            SELECT f::integer
            FROM jsonb_array_elements(v_sequence -> 'last') AS l,
                jsonb_array_elements(v_part -> 'first') AS f
            ORDER BY l::integer
        );
        IF cardinality(v_from) > v_most_edges THEN
            RETURN TRUE;
        END IF;
        v_sequence := jsonb_build_object(
            'nullable', (v_sequence -> 'nullable')::boolean AND (v_part -> 'nullable')::boolean,
            'first', (v_sequence -> 'first') || CASE
                WHEN (v_sequence -> 'nullable')::boolean THEN v_part -> 'first' ELSE '[]'
            END,
            'last', (v_part -> 'last') || CASE
                WHEN (v_part -> 'nullable')::boolean THEN v_sequence -> 'last' ELSE '[]'
            END
        );
        v_part := v_empty;
        v_begins := cardinality(v_places) + 1;
        v_is_single := FALSE;
        CASE
            WHEN v_piece IN ('(', '(?:') THEN
                v_open := v_open || jsonb_build_object(
                    'ended', v_ended, 'sequence', v_sequence, 'begins', v_begins
                );
                v_ended := NULL;
                v_sequence := v_empty;
            WHEN v_piece IN ('|', ')') THEN
                v_ended := CASE
                    WHEN v_ended IS NULL THEN v_sequence
                    ELSE jsonb_build_object(
                        'nullable',
                        (v_ended -> 'nullable')::boolean OR (v_sequence -> 'nullable')::boolean,
                        'first', (v_ended -> 'first') || (v_sequence -> 'first'),
                        'last', (v_ended -> 'last') || (v_sequence -> 'last')
                    )
                END;
                v_sequence := v_empty;
                IF v_piece = ')' THEN
                    v_part := v_ended;
                    v_ended := nullif(v_open[cardinality(v_open)] -> 'ended', 'null');
                    v_sequence := v_open[cardinality(v_open)] -> 'sequence';
                    v_begins := (v_open[cardinality(v_open)] -> 'begins')::integer;
                    v_open := trim_array(v_open, 1);
                END IF;
            WHEN v_piece NOT IN ('^', '$') THEN
                v_places := v_places || v_piece;
                v_part := jsonb_build_object(
                    'nullable', FALSE, 'first', ARRAY[v_begins], 'last', ARRAY[v_begins]
                );
                v_is_single := TRUE;
            ELSE
                NULL;
        END CASE;
    END LOOP;
    -- The whole is a group, whose beginnings are choices, too.
    v_from := v_from || array_fill(0, ARRAY[jsonb_array_length(v_part -> 'first')]);
    v_to := v_to || ARRAY(SELECT f::integer FROM jsonb_array_elements(v_part -> 'first') AS f);
    RETURN (
        WITH letters AS (
            -- Where two classes have one in common, they have one of these.
            SELECT chr(a.code) AS letter FROM generate_series(1, 126) AS a (code)
            UNION
            SELECT c.letter FROM regexp_split_to_table(p_pattern, '') AS c (letter)
        ),

        classes AS (
            SELECT
                p.piece,
                array_agg(l.letter) AS letters
            FROM (SELECT DISTINCT u.piece FROM unnest(v_places) AS u (piece)) AS p
            INNER JOIN letters AS l ON l.letter ~ (p.piece COLLATE "C")
            GROUP BY p.piece
        ),

        edges AS (
            SELECT
                e.n,
                e.place,
                e.next_place,
                c.letters
            FROM unnest(v_from, v_to) WITH ORDINALITY AS e (place, next_place, n)
            INNER JOIN classes AS c ON v_places[e.next_place] = c.piece
        ),

        choices AS (
            SELECT
                e.place,
                EXISTS (
                    SELECT FROM unnest(v_loops) AS l (places)
                    WHERE l.places @> e.place
                        AND l.places @> e.next_place
                        AND l.places @> o.next_place
                ) AS is_repeated
            FROM edges AS e
            INNER JOIN edges AS o ON e.place = o.place AND e.n < o.n AND e.letters && o.letters
        )

        SELECT coalesce(bool_or(is_repeated), FALSE) OR count(DISTINCT place) > v_most_choices
        FROM choices
    );
END
$pattern_backtracks$;

COMMENT ON FUNCTION omd_delivery._pattern_backtracks IS
'Returns whether p_pattern, which _spark_pattern takes, may need very long for a value on Spark. '
'Locks: none.';
