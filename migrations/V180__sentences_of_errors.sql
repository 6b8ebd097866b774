-- phase: expand
-- V180: errors have sentences of ours, and the state of a Module keeps the text. Applied once.

CREATE TABLE IF NOT EXISTS omd.error_sentence (
    sqlstate_code text NOT NULL,
    sentence text NOT NULL,
    CONSTRAINT ck_error_sentence_sqlstate CHECK (sqlstate_code ~ '^[0-9A-Z]{5}$'),
    CONSTRAINT pk_error_sentence PRIMARY KEY (sqlstate_code)
);
COMMENT ON TABLE omd.error_sentence IS
'What an SQLSTATE of PostgreSQL says, in words of ours: who may not see the text of an error sees '
'this. A code that ends with 000 stands for all codes of its class that have no row.';
COMMENT ON COLUMN omd.error_sentence.sqlstate_code IS 'SQLSTATE.';
COMMENT ON COLUMN omd.error_sentence.sentence IS
'What has happened, without a name or a value.';

ALTER TABLE omd.module_state ADD COLUMN IF NOT EXISTS last_text text;
COMMENT ON COLUMN omd.module_state.last_text IS
'The whole text of the last failure, for who has omd_data_reader; NULL: it had none, or failed '
'before this was kept.';
