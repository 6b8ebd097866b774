-- A text that a program or the server has delivered may hold values: of a row that does not fit, of
-- what can't be cast, of a statement. RAISE carries any SQLSTATE and any text, so the code says
-- nothing about the text, and what everybody sees is a sentence of ours. Texts that OMD itself has
-- written have one of its words for a code.

CREATE OR REPLACE FUNCTION omd.shown_error(
    p_code text,
    p_text text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_text IS NULL THEN NULL
            -- A line a member; behind its name stands why it could not begin.
            WHEN p_code = 'MEMBER FAILED'
                THEN
                    (
                        SELECT
                            string_agg(
                                CASE
                                    WHEN
                                        l.line ~ '^(Batch|Module) .* failed$'
                                        AND l.line !~ ' failed: '
                                        THEN l.line
                                    ELSE
                                        coalesce(
                                            substring(
                                                l.line FROM '^((?:Batch|Module) .*? failed): '
                                            ) || ': ',
                                            ''
                                        )
                                        || concat_ws(
                                            ' ',
                                            'error',
                                            coalesce(
                                                substring(l.line FROM ' \(([0-9A-Z]{5})\)$'),
                                                'without a code'
                                            )
                                        )
                                END,
                                chr(10) ORDER BY l.place
                            )
                        FROM regexp_split_to_table(p_text, '\n') WITH ORDINALITY AS l (line, place)
                    )
            WHEN p_code = 'TASK DEAD'
                THEN regexp_replace(p_text, '^(task .*? is dead after \d+ attempts): .*$', '\1')
            -- These words are of OMD, and so is the text. Anybody may call a class like a word.
            WHEN
                p_code IN (
                    'BATCH SIZE', 'CANCELLED', 'ENDED', 'GIVEN UP', 'KEY_MISMATCH', 'LEFTOVER',
                    'MAX_WAIT', 'OCCURRENCE LOST', 'REJECTED', 'RELEASED', 'RETRY', 'WINDOW',
                    'WORKER LOST'
                )
                THEN p_text
            ELSE
                concat_ws(
                    ': ',
                    'error ' || coalesce(p_code, 'without a code'),
                    (
                        SELECT regexp_replace(c.message_template, '"?\{[a-z_]+\}"?', '…', 'g')
                        FROM omd.error_catalogue AS c
                        WHERE c.sqlstate_code = p_code
                    )
                )
        END;
END;

COMMENT ON FUNCTION omd.shown_error IS
'For rooms: Returns what everybody may see of the error text p_text with the code p_code: its '
'code, and of one of OMD its message without values; a text that OMD itself has written, whole. '
'NULL when p_text is NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.shown_error TO omd_reader;
