-- The functions of the search migration of the same name.

-- Text without case and accents. Most of it is plain ASCII, which the slower steps need not touch.
CREATE FUNCTION fold_text(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value ~ '[^\x01-\x7f]' THEN
    replace(replace(replace(lower(
        regexp_replace(normalize(value, NFD), '[\u0300-\u036f]+', '', 'g')),
        'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
    ELSE lower(value) END;

-- The words of a text, folded, with how often and where they stand. Signs become blanks: the
-- parser takes them for letters where the locale is plain C, and elsewhere they hold words
-- together (in file names, addresses, signed numbers, tags). As blanks they leave every word
-- alone, on both sides of a search and in any locale.
CREATE FUNCTION search_words(value text)
RETURNS TABLE (word text, frequency integer, place smallint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    SELECT lexeme, cardinality(positions), positions[1] FROM unnest(to_tsvector(
        'pg_catalog.simple',
        regexp_replace(fold_text(value), '[\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u2bff\u3000-\u303f\ufe00-\ufe0f\ufeff\U0001f000-\U0001faff]+', ' ', 'g')));
END;

-- A word that says nothing of what is asked: a stop word of either language as the database
-- knows them, a Spanish one whose accent was folded away, or a word that only asks.
CREATE FUNCTION is_stop_word(word text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ts_lexize('pg_catalog.english_stem', word) = '{}'
    OR ts_lexize('pg_catalog.spanish_stem', word) = '{}'
    OR word IN (
        'mas', 'si', 'tambien', 'que', 'tu', 'el', 'mi', 'mia', 'mias', 'mio', 'mios', 'estas',
        'estan', 'este', 'estes', 'esten', 'estare', 'estaras', 'estara', 'estaremos', 'estareis',
        'estaran', 'estaria', 'estarias', 'estariamos', 'estariais', 'estarian', 'estabamos',
        'estuvieramos', 'estuviesemos', 'estais', 'esteis', 'habeis', 'hayais', 'habre', 'habras',
        'habra', 'habremos', 'habreis', 'habran', 'habria', 'habrias', 'habriamos', 'habriais',
        'habrian', 'habia', 'habias', 'habiamos', 'habiais', 'habian', 'hubieramos', 'hubiesemos',
        'seais', 'sere', 'seras', 'sera', 'seremos', 'sereis', 'seran', 'seria', 'serias',
        'seriamos', 'seriais', 'serian', 'eramos', 'fueramos', 'fuesemos', 'teneis', 'tengais',
        'tendre', 'tendras', 'tendra', 'tendremos', 'tendreis', 'tendran', 'tendria', 'tendrias',
        'tendriamos', 'tendriais', 'tendrian', 'tenia', 'tenias', 'teniamos', 'teniais', 'tenian',
        'tuvieramos', 'tuviesemos', 'could', 'dont', 'get', 'gets', 'got', 'hows', 'im', 'ive',
        'lets', 'many', 'may', 'might', 'much', 'must', 'please', 'shall', 'tell', 'thats',
        'theres', 'whats', 'wheres', 'whos', 'would', 'cual', 'cuales', 'cuanta', 'cuantas',
        'cuanto', 'cuantos', 'debe', 'deben', 'debo', 'dime', 'favor', 'hace', 'hacen', 'haces',
        'hago', 'pa', 'podemos', 'puede', 'pueden', 'puedes', 'puedo', 'q', 'quiere', 'quiero',
        'va', 'van', 'voy');

-- A word as it stands in the postings of a language; null for a stop word. Bilingual text gives
-- no hint which language a word is of, so it goes through both stemmers in turn: one lexeme a
-- word, and the same one on both sides of a search.
CREATE FUNCTION word_stem(language text, word text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE language
    WHEN 'en' THEN (ts_lexize('pg_catalog.english_stem', word))[1]
    WHEN 'es' THEN (ts_lexize('pg_catalog.spanish_stem', word))[1]
    WHEN 'mul' THEN CASE WHEN NOT is_stop_word(word) THEN
        (ts_lexize('pg_catalog.spanish_stem',
            (ts_lexize('pg_catalog.english_stem', word))[1]))[1] END
END;

-- What a query asks for: each of its first forty words that is a stop word in neither language,
-- as it would stand in an English, a Spanish and a bilingual document.
CREATE FUNCTION search_terms(query text)
RETURNS TABLE (language text, lexeme text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    SELECT DISTINCT kind.language, word_stem(kind.language, asked.word)
    FROM (
        SELECT word FROM search_words(query) WHERE NOT is_stop_word(word)
        ORDER BY place LIMIT 40
    ) AS asked
    CROSS JOIN (VALUES ('en'), ('es'), ('mul')) AS kind (language)
    WHERE word_stem(kind.language, asked.word) IS NOT NULL;
END;

-- BM25 of every document that contains a word of the query, and the share of the query (its
-- words weighed by rarity) that it contains. In PL/pgSQL because that keeps its plan from one
-- call to the next.
CREATE FUNCTION search_scores(
    query text, searched uuid, searcher uuid, k1 float8, b float8)
RETURNS TABLE (doc_no bigint, bm25 float8, coverage float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1000 AS $body$
BEGIN
    RETURN QUERY
    WITH terms AS MATERIALIZED (
        SELECT t.language, t.lexeme, r.idf / sum(r.idf) OVER kind AS share,
            r.idf * (k1 + 1) AS most, k1 * (1 - b) AS fixed,
            k1 * b * s.documents / greatest(s.total_length, 1) AS per_length
        FROM search_terms(query) AS t
        JOIN language_statistics AS s
            ON s.group_id = searched AND s.language = t.language
        LEFT JOIN lexeme_statistics AS f ON f.group_id = searched
            AND f.language = t.language AND f.lexeme = t.lexeme
        CROSS JOIN LATERAL (SELECT ln(1 +
            (s.documents - coalesce(f.documents, 0) + 0.5)::float8
            / (coalesce(f.documents, 0) + 0.5)) AS idf) AS r
        -- A number that stands nowhere is a reading or a table, not what is asked about.
        WHERE coalesce(f.documents, 0) > 0 OR t.lexeme !~ '^[0-9]+$'
        WINDOW kind AS (PARTITION BY t.language)
    )
    SELECT p.doc_no,
        sum(t.most * p.frequency / (p.frequency + t.fixed + t.per_length * p.length)),
        sum(t.share)
    FROM terms AS t JOIN postings AS p ON p.group_id = searched
        AND p.language = t.language AND p.lexeme = t.lexeme
        AND (p.owner_id IS NULL OR p.owner_id = searcher)
    GROUP BY p.doc_no;
END
$body$;

-- Writers of a group take turns until their transactions end, so that two of them never wait
-- for each other's words. Readers never wait.
CREATE FUNCTION lock_search_groups(groups uuid[]) RETURNS void LANGUAGE sql AS $body$
    SELECT pg_advisory_xact_lock(hashtextextended('search ' || group_id, 0))
    FROM (SELECT DISTINCT unnest(groups)::text AS group_id ORDER BY 1) AS ordered
$body$;

-- Count the words of these documents: in the title three times, in the headings twice.
CREATE FUNCTION post_documents(numbers bigint[]) RETURNS void LANGUAGE sql
SET work_mem = '64MB' AS $body$
    WITH lexemes AS (
        SELECT d.group_id, d.language, d.owner_id, d.doc_no,
            word_stem(d.language, w.word) AS lexeme,
            sum(w.frequency * part.weight) AS frequency
        FROM search_documents AS d
        CROSS JOIN LATERAL (
            VALUES (d.title, 3), (array_to_string(d.headings, ' '), 2), (d.text, 1)
        ) AS part (content, weight)
        CROSS JOIN LATERAL search_words(part.content) AS w
        WHERE d.doc_no = ANY (numbers)
        GROUP BY d.id, word_stem(d.language, w.word)
    ), posted AS (
        INSERT INTO postings
            (group_id, language, lexeme, doc_no, frequency, length, owner_id)
        SELECT group_id, language, lexeme, doc_no, least(frequency, 32767),
            least(sum(frequency) OVER (PARTITION BY doc_no), 32767), owner_id
        FROM lexemes WHERE lexeme IS NOT NULL
        ORDER BY group_id, language, lexeme, doc_no
        RETURNING group_id, language, lexeme, doc_no, length
    ), counted AS (
        INSERT INTO lexeme_statistics AS s (group_id, language, lexeme, documents)
        SELECT group_id, language, lexeme, count(*) FROM posted GROUP BY 1, 2, 3
        ON CONFLICT (group_id, language, lexeme)
        DO UPDATE SET documents = s.documents + excluded.documents
    )
    INSERT INTO language_statistics AS s (group_id, language, documents, total_length)
    SELECT group_id, language, count(*), sum(length)
    FROM (SELECT DISTINCT group_id, language, doc_no, length FROM posted) AS documents
    GROUP BY group_id, language
    ON CONFLICT (group_id, language) DO UPDATE SET
        documents = s.documents + excluded.documents,
        total_length = s.total_length + excluded.total_length
$body$;

-- Take back what was counted for these documents.
CREATE FUNCTION unpost_documents(numbers bigint[]) RETURNS void
LANGUAGE plpgsql AS $body$
BEGIN
    WITH gone AS (
        DELETE FROM postings WHERE doc_no = ANY (numbers)
        RETURNING group_id, language, lexeme, doc_no, length
    ), fewer AS (
        SELECT group_id, language, lexeme, count(*) AS documents
        FROM gone GROUP BY 1, 2, 3
    ), emptied AS (
        DELETE FROM lexeme_statistics AS s USING fewer AS f
        WHERE (s.group_id, s.language, s.lexeme) = (f.group_id, f.language, f.lexeme)
        AND s.documents <= f.documents
    ), lessened AS (
        UPDATE lexeme_statistics AS s SET documents = s.documents - f.documents
        FROM fewer AS f
        WHERE (s.group_id, s.language, s.lexeme) = (f.group_id, f.language, f.lexeme)
        AND s.documents > f.documents
    )
    UPDATE language_statistics AS s SET
        documents = s.documents - g.documents,
        total_length = s.total_length - g.total_length
    FROM (
        SELECT group_id, language, count(*) AS documents, sum(length) AS total_length
        FROM (SELECT DISTINCT group_id, language, doc_no, length FROM gone) AS documents
        GROUP BY 1, 2
    ) AS g
    WHERE (s.group_id, s.language) = (g.group_id, g.language);
    DELETE FROM language_statistics WHERE documents <= 0;
END
$body$;

REVOKE ALL ON FUNCTION lock_search_groups(uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION post_documents(bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION unpost_documents(bigint[]) FROM PUBLIC;
