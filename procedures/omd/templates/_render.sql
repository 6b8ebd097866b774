-- All long texts that OMD makes are made from a template that shows what comes out, in its order:
-- statements of loads, functions of families, rollbacks, messages of errors. A tag in braces says
-- what differs:
--     {name}                 is the value of that name; null is nothing.
--     {for list}…{end}       is the block once for each item of the list; with {for list ", "} the
--                            quoted text stands between them. An item is an object: in the block
--                            its names come before those outside.
--     {if name}…{else}…{end} is the first block unless the name is unknown, false, '' or an empty
--                            list; the part {else}… may be left out.
-- Where {for}, {if}, {else} or {end} stands alone on a line, nothing is left of the line. Whatever
-- else has braces stays as it is, and so does a {name} that the data do not have: users write
-- templates of rollbacks, and '{}' is an array.
--
-- Values are put in as they are, in one pass: whoever makes the data has quoted them, and a hostile
-- value that looks like a tag reaches no other value.
--
-- A session may have standard_conforming_strings off, so a pattern with a backslash is an E''.

CREATE OR REPLACE FUNCTION omd._render(
    p_template text,
    p_data jsonb
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $render$
DECLARE
    -- The tokens of the template: text, name, for, if, else or end; the token as it stands, its
    -- name, and the separator of a list.
    v_words text[];
    v_tokens text[];
    v_names text[];
    v_separators text[];
    -- To which token one leads: if to its else or end, else and for to the end, and an end back to
    -- what it ends.
    v_partners integer[];
    v_open integer[] := '{}'::integer[];
    -- The lists that are gone through, the innermost last, the number and the value of the item.
    v_depth integer := 0;
    v_lists jsonb[] := '{}'::jsonb[];
    v_numbers integer[] := '{}'::integer[];
    v_items jsonb[] := '{}'::jsonb[];
    v_place integer := 1;
    v_partner integer;
    v_value jsonb;
    v_output text := '';
BEGIN
    -- Most templates have no blocks. One statement renders them in a third of the time.
    IF p_template !~ E'\\{(?:for|if) \\w' THEN
        RETURN (
            SELECT
                btrim(
                    coalesce(
                        string_agg(
                            CASE
                                WHEN p_data ? t.m[2] THEN coalesce(p_data ->> t.m[2], '')
                                ELSE t.m[1]
                            END,
                            '' ORDER BY t.n
                        ),
                        ''
                    ),
                    E'\n '
                )
            FROM regexp_matches(
                p_template, E'([^{]+|\\{(\\w+)\\}|\\{)', 'g'
            ) WITH ORDINALITY AS t (m, n)
        );
    END IF;

    SELECT
        array_agg(
            CASE
                WHEN t.m[2] IS NOT NULL THEN t.m[2]
                WHEN t.m[3] IN ('else', 'end') THEN t.m[3]
                WHEN t.m[3] IS NULL OR t.m[4] IS NOT NULL THEN 'text'
                ELSE 'name'
            END
            ORDER BY t.n
        ),
        array_agg(t.m[1] ORDER BY t.n),
        array_agg(t.m[3] ORDER BY t.n),
        array_agg(coalesce(t.m[4], '') ORDER BY t.n)
    INTO v_words, v_tokens, v_names, v_separators
    FROM regexp_matches(
        regexp_replace(
            p_template,
            E'^ *(\\{(?:else|end|(?:for|if) \\w+(?: "[^"]*")?)\\})\n',
            E'\\1',
            'gn'
        ),
        E'([^{]+|\\{(?:(for|if) )?(\\w+)(?: "([^"]*)")?\\}|\\{)', 'g'
    ) WITH ORDINALITY AS t (m, n);
    IF v_words IS NULL THEN
        RETURN '';
    END IF;
    v_partners := array_fill(0, ARRAY[cardinality(v_words)]);
    FOR i IN 1..cardinality(v_words) LOOP
        IF v_words[i] IN ('else', 'end') THEN
            v_partner := v_open[cardinality(v_open)];
            IF v_partner IS NULL THEN
                v_words[i] := 'text';
                CONTINUE;
            END IF;
            v_partners[v_partner] := i;
            v_partners[i] := v_partner;
            v_open := trim_array(v_open, 1);
        END IF;
        IF v_words[i] IN ('for', 'if', 'else') THEN
            v_open := v_open || i;
        END IF;
    END LOOP;
    -- What is never ended is no block.
    FOREACH v_partner IN ARRAY v_open LOOP
        IF v_words[v_partner] = 'else' THEN
            v_words[v_partners[v_partner]] := 'text';
        END IF;
        v_words[v_partner] := 'text';
    END LOOP;

    WHILE v_place <= cardinality(v_words) LOOP
        IF v_words[v_place] IN ('name', 'for', 'if') THEN
            v_value := NULL;
            FOR i IN REVERSE v_depth..1 LOOP
                EXIT WHEN v_value IS NOT NULL;
                v_value := v_items[i] -> v_names[v_place];
            END LOOP;
            v_value := coalesce(v_value, p_data -> v_names[v_place]);
        END IF;
        v_partner := v_partners[v_place];
        CASE v_words[v_place]
            WHEN 'text' THEN
                v_output := v_output || v_tokens[v_place];
            WHEN 'name' THEN
                v_output := v_output || CASE
                    WHEN v_value IS NULL THEN v_tokens[v_place]
                    ELSE coalesce(v_value #>> '{}', '')
                END;
            WHEN 'if' THEN
                IF coalesce(v_value, 'null') IN ('null', 'false', '""', '[]') THEN
                    v_place := v_partner;
                END IF;
            WHEN 'else' THEN
                -- The block before it was taken.
                v_place := v_partner;
            WHEN 'for' THEN
                IF coalesce(v_value, 'null') IN ('null', '[]') THEN
                    v_place := v_partner;
                ELSE
                    v_depth := v_depth + 1;
                    v_lists[v_depth] := v_value;
                    v_numbers[v_depth] := 0;
                    v_items[v_depth] := v_value -> 0;
                END IF;
            WHEN 'end' THEN
                IF v_words[v_partner] = 'for' THEN
                    v_numbers[v_depth] := v_numbers[v_depth] + 1;
                    v_items[v_depth] := v_lists[v_depth] -> v_numbers[v_depth];
                    IF v_items[v_depth] IS NULL THEN
                        v_depth := v_depth - 1;
                    ELSE
                        v_output := v_output || v_separators[v_partner];
                        v_place := v_partner;
                    END IF;
                END IF;
        END CASE;
        v_place := v_place + 1;
    END LOOP;
    RETURN btrim(v_output, E'\n ');
END
$render$;

COMMENT ON FUNCTION omd._render IS
'Returns the text that p_template makes of p_data, an object. Locks: none.';
